// One exchange with the gateway: what goes out, what comes back, and what is known in between.
import type { Deadline } from '../deadline.ts';
import type { Call } from '../telemetry/call.ts';
import type { BoundedBody } from './read-body.ts';

/** Bytes of an answer that are read. A record takes one or two thousand. */
export const LONGEST_ANSWER = 1024 * 1024;

/** One call as it goes over the wire. */
export interface HttpRequest {
  call: Call;
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: Uint8Array;
  /** The key and the signature in the headers: no error shows them, whoever repeats them. */
  secrets: readonly string[];
}

/** What the gateway answered, with any status. */
export interface HttpAnswer {
  status: number;
  body: string;
  /** The body went on after {@link LONGEST_ANSWER}, and `body` is its beginning. */
  isTooLong: boolean;
  /** The body is compressed, although the SDK asks for plain text. */
  isCompressed?: boolean | undefined;
  requestId?: string | undefined;
  /** The `Retry-After` header. */
  retryAfter?: string | undefined;
}

/** What is known of an attempt, also while it runs. */
export interface Attempt {
  deadline: Deadline;
  /** False as long as the request provably has not left this machine. */
  mayHaveLeft: boolean;
  /** The answer's body as far as it arrived: half of one may hold the payment's id. */
  body: BoundedBody;
  /** Milliseconds, of `performance.now()`; 0 while it runs. */
  endedAt: number;
  answer?: HttpAnswer;
  error?: unknown;
}

/** Sends a request once. It rejects as soon as the signal is aborted, and sends nothing after the attempt's deadline. */
export type Exchange = (request: HttpRequest, attempt: Attempt, signal: AbortSignal) => Promise<HttpAnswer>;
