// The sandbox's answer to a call, before it becomes a Response, so that a fault can still change it.
import { delay } from '../deadline.ts';
import { toPhpJson } from './text/php.ts';

export interface Answer {
  status: number;
  body: string;
  headers: Record<string, string>;
  /** The reason for a refusal, for people. */
  message?: string | undefined;
  /** The payment that the call made or read. */
  paymentId?: string | undefined;
  /** Whether the connection breaks in the middle of the body. */
  isCut?: boolean | undefined;
}

export const JSON_TYPE = { 'content-type': 'application/json' };

export const answering = (value: unknown, status: number, paymentId?: string): Answer => ({
  status,
  body: toPhpJson(value),
  headers: JSON_TYPE,
  paymentId,
});

export const refusing = (status: number, message: string, details: object = {}, headers: object = {}): Answer => ({
  ...answering({ message, ...details }, status),
  headers: { ...JSON_TYPE, ...headers },
  message,
});

export function toResponse({ status, body, headers, isCut }: Answer): Response {
  const length = isCut && { 'content-length': String(Buffer.byteLength(body)) };
  const fields = { ...headers, 'x-request-id': crypto.randomUUID(), ...length };
  return new Response(isCut ? firstHalf(body) : body, { status, headers: fields });
}

/** Throws the error of a fetch whose connection the other side closed. */
export function breakOff(): never {
  const cause = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
  throw new TypeError('fetch failed', { cause });
}

async function* firstHalf(text: string) {
  const bytes = Buffer.from(text);
  yield bytes.subarray(0, bytes.length / 2);
  // A failing stream drops chunks that its readers have not taken yet.
  await delay(20);
  breakOff();
}
