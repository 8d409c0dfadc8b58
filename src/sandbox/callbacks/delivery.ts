// The callbacks in the sandbox's log, and those that wait.
import { printable } from '../../terminal/text.ts';
import type { CallbackFault } from '../faults/kinds.ts';

/** One post of one callback. */
export interface Delivery {
  /** A number in order of posting, from 1. */
  id: number;
  /** Time of posting, in milliseconds since 1970 by the sandbox's clock. */
  at: number;
  paymentId: string;
  paymentStatus: string;
  url: string;
  /** The posted JSON. */
  body: string;
  /** The merchant's HTTP status. Absent while the post runs, and if it got no answer. */
  status?: number;
  /** The merchant's body, up to 4,096 letters. */
  answer?: string;
  /** The reason for a missing answer. */
  error?: string;
  durationMs?: number;
  /** The injected fault. */
  fault?: CallbackFault | undefined;
  /** The delivery that this one repeats, by hand or because that one got no 2xx answer. */
  repeats?: number;
  /** Whether its body was changed by hand. */
  isEdited?: boolean;
}

/** A callback to post. */
export type Callback = Omit<Delivery, 'id' | 'at' | 'status' | 'answer' | 'durationMs'> & {
  /** The times before its repetitions, in milliseconds. */
  retries: readonly number[];
};

/** A callback that waits for its time. Without `due`, it waits for the next callback of its payment. */
export interface WaitingCallback {
  callback: Callback;
  due?: number | undefined;
}

export const isTaken = ({ status = 0 }: Delivery): boolean => status >= 200 && status < 300;

export const isLost = ({ fault }: Delivery): boolean => fault === 'callback-lose';

/** Describes the merchant's answer: `answered 500 "busy"`. */
export function answerOf(delivery: Delivery): string {
  const { status, answer, error } = delivery;
  if (isLost(delivery)) return 'never posted';
  if (status === undefined) return `not answered (${error?.replace(/\.$/, '') ?? 'it is still running'})`;
  return `answered ${status}${answer ? ` "${printable(answer.slice(0, 120))}"` : ''}`;
}
