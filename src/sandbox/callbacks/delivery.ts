// One post of one callback, as the sandbox logs it.
import type { CallbackFault } from '../faults/kinds.ts';

/** One post of one callback. */
export interface Delivery {
  /** Counts from 1, in order of posting. */
  id: number;
  paymentId: string;
  paymentStatus: string;
  url: string;
  /** The JSON that was posted. */
  body: string;
  /** The merchant's HTTP status; absent while the post is under way, and when it got no answer. */
  status?: number;
  /** Why there was no answer. */
  error?: string;
  durationMs?: number;
  /** The fault that was injected. */
  fault?: CallbackFault;
}
