// Turns a checked request into the bytes to sign and send. They are made once: the bytes signed are the bytes sent.
import { Buffer } from 'node:buffer';
import { InvalidRequestError } from '../errors.ts';
import { isRequestField } from '../schemas/request.ts';
import type { CheckedRequest } from './request.ts';

// In every Node since 21, and not yet in TypeScript's library.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };

/** How JSON.stringify writes half a character; an even number of backslashes before it is the merchant's own text. */
const HALF_CHARACTER = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

/**
 * The JSON of a request as bytes. Fields of `extra` come last; an amount given as text keeps its digits.
 *
 * @throws {InvalidRequestError} if `extra` repeats a field of the request, a value cannot be written as JSON, or a text
 * holds half a character, which PHP cannot read
 */
export function serialize(request: CheckedRequest, extra: object = {}): Uint8Array {
  const repeated = Object.keys(extra).filter(isRequestField);
  if (repeated.length > 0) {
    const message = 'is a field of the request: set it there, not in extra';
    throw new InvalidRequestError(
      repeated.map(name => ({ path: `extra.${name}`, message })),
      'not_sent',
    );
  }
  const text = toJson(request, extra);
  if (HALF_CHARACTER.test(text)) {
    throw refused('a text holds half a character (a lone surrogate), as when an emoji is cut in two');
  }
  return Buffer.from(text);
}

function toJson(request: CheckedRequest, extra: object): string {
  const amount = typeof request.amount === 'string' ? rawJSON(request.amount) : request.amount;
  try {
    return JSON.stringify({ ...request, amount, ...extra });
  } catch {
    throw refused('a value cannot be written as JSON: a BigInt, or an object that contains itself');
  }
}

const refused = (message: string) => new InvalidRequestError([{ path: '', message }], 'not_sent');
