// One post of one callback, as the sandbox logs it.
import type { CallbackFault } from '../faults/kinds.ts';

/** One post of one callback. */
export interface Delivery {
  /** Counts from 1, in order of posting. */
  id: number;
  /** When it was posted: milliseconds since 1970, by the sandbox's clock. */
  at: number;
  paymentId: string;
  paymentStatus: string;
  url: string;
  /** The JSON that was posted. */
  body: string;
  /** The merchant's HTTP status; absent while the post is under way, and when it got no answer. */
  status?: number;
  /** The merchant's body, up to 4,096 letters. */
  answer?: string;
  /** Why there was no answer. */
  error?: string;
  durationMs?: number;
  /** The fault that was injected. */
  fault?: CallbackFault;
  /** The delivery that it repeats: by hand, or because that one was not answered with 2xx. */
  repeats?: number;
  /** Whether its body was changed by hand. */
  isEdited?: boolean;
}
