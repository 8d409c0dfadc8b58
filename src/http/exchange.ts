// One exchange with the gateway: its request, its answer and the state of its attempt.
import type { Deadline } from '../deadline.ts';
import type { Call } from '../telemetry/call.ts';
import type { BoundedBody } from './read-body.ts';

export interface HttpRequest {
  call: Call;
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: Uint8Array;
  /** The key and the signature in the headers: errors hide them. */
  secrets: readonly string[];
}

/** The gateway's answer, with any status. */
export interface HttpAnswer {
  status: number;
  body: string;
  /** Whether the body is longer than the SDK reads. Then `body` is its beginning. */
  isTooLong: boolean;
  /** Whether the body is compressed, although the SDK asks for plain text. */
  isCompressed?: boolean | undefined;
  requestId?: string | undefined;
  /** Milliseconds that its `Retry-After` header asks to wait, or 0. */
  pause: number;
}

/** An answer without its body, which the attempt has. */
export type AnswerHead = Omit<HttpAnswer, 'body' | 'isTooLong'>;

export interface HttpAttempt {
  readonly deadline: Deadline;
  /** Aborted at the timeout, or with the caller's own signal. */
  readonly signal: AbortSignal;
  /** False while the request provably has not left this machine. */
  mayHaveLeft: boolean;
  /** The part of the answer's body that has arrived: even half may contain the payment's id. */
  readonly body: BoundedBody;
}

/** Sends a request once, before the attempt's deadline. It rejects as soon as the attempt's signal is aborted. */
export type Exchange = (request: HttpRequest, attempt: HttpAttempt) => Promise<AnswerHead>;
