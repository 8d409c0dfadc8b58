// Writes a checked request as JSON.
import { InvalidRequestError } from '../errors.ts';
import type { CheckedRequest } from './checked-request.ts';
import { isJsonMap, rawJSON } from './json.ts';
import { REQUEST_FIELDS } from './request-schema.ts';

/** A request in the form that is sent. */
export interface Serialized {
  /** JSON. */
  text: string;
  /** The same as plain data, so that the merchant's getters and `toJSON` run only once. */
  fields: object;
}

/** Levels of nested objects and lists. PHP reads no more by default. */
const DEEPEST = 511;

/** Half a character as JSON.stringify writes it. An even number of backslashes before it is the merchant's own text. */
const HALF_CHARACTER = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

/**
 * Writes a request as JSON. Fields of `extra` come last. An amount given as text keeps its digits.
 *
 * @throws {InvalidRequestError} if `extra` repeats a field of the request, JSON cannot contain a value, or a text
 * contains half a character, which PHP refuses
 */
export function serialize(request: CheckedRequest, extra: object = {}): Serialized {
  const repeated = Object.keys(extra).filter(name => REQUEST_FIELDS.has(name));
  if (repeated.length > 0) {
    const message = 'is a field of the request: set it there, not in extra';
    throw new InvalidRequestError(
      repeated.map(name => ({ path: `extra.${name}`, message })),
      'not_sent',
    );
  }
  const { text, fields } = toJson(request, extra);
  if (HALF_CHARACTER.test(text)) {
    throw refused('a text holds half a character (a lone surrogate), as when an emoji is cut in two');
  }
  return { text, fields };
}

function toJson(request: CheckedRequest, extra: object): Serialized {
  const amount = typeof request.amount === 'string' ? rawJSON(request.amount) : request.amount;
  let fields: object | undefined;
  const levels = new WeakMap<object, number>();
  try {
    // Each part is written from a copy, which replaces it in the copy of the whole.
    const text = JSON.stringify({ ...request, amount, ...extra }, function (this: Record<string, unknown>, key, part) {
      const copy = copyOf(part);
      if (typeof copy === 'object' && copy !== null) {
        const level = (levels.get(this) ?? 0) + 1;
        if (level > DEEPEST) throw new RangeError();
        levels.set(copy, level);
      }
      fields ??= copy as object;
      this[key] = copy;
      return copy;
    });
    return { text, fields: fields as object };
  } catch {
    throw refused(
      `a value cannot be written as JSON that PHP reads: a BigInt, an object that contains itself, more than ${DEEPEST} levels in each other, or a getter that throws`,
    );
  }
}

function copyOf(part: unknown): unknown {
  if (Array.isArray(part)) return [...part];
  return isJsonMap(part) ? { ...part } : part;
}

const refused = (message: string) => new InvalidRequestError([{ path: '', message }], 'not_sent');
