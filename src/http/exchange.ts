// One exchange with the gateway: its request, answer and attempt.
import type { Deadline } from '../deadline.ts';
import type { Call } from '../telemetry/call.ts';
import type { BoundedBody } from './read-body.ts';

export interface HttpRequest {
  call: Call;
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: Uint8Array;
  /** The key and signature of the headers, hidden by errors. */
  secrets: readonly string[];
}

export interface HttpAnswer {
  status: number;
  body: string;
  /** Whether `body` is only the beginning of a body longer than the SDK reads. */
  isTooLong: boolean;
  /** Whether the body is compressed, against the request. */
  isCompressed?: boolean | undefined;
  requestId?: string | undefined;
  /** Milliseconds that `Retry-After` asks to wait, or 0. */
  pause: number;
}

/** An answer without its body, which the attempt has. */
export interface AnswerHead extends Pick<HttpAnswer, 'status' | 'isCompressed'> {
  /** @param name in lower case */
  header(name: string): string | null | undefined;
}

export interface HttpAttempt {
  readonly deadline: Deadline;
  /** Aborted at the timeout, or by the caller. */
  readonly signal: AbortSignal;
  /** False while the request provably has not left this machine. */
  mayHaveLeft: boolean;
  /** The part of the answer that has arrived. */
  readonly body: BoundedBody;
}

/** Sends a request once, before the attempt's deadline. Rejects once the attempt's signal is aborted. */
export type Exchange = (request: HttpRequest, attempt: HttpAttempt) => Promise<AnswerHead>;
