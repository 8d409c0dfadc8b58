// Writes a request as JSON.
import { InvalidRequestError } from '../../errors.ts';
import { rawJSON } from '../json.ts';
import type { CheckedRequest } from './checked-request.ts';
import { REQUEST_FIELDS } from './schema.ts';

/** Half a character, as JSON.stringify escapes it. After an odd number of backslashes it is the merchant's own text. */
const HALF_CHARACTER = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

/**
 * An amount given as text keeps its digits. Getters and `toJSON` run only here: the store reads the text.
 *
 * @throws {InvalidRequestError} if `extra` repeats a field of the request, JSON cannot contain a value, or a text
 * contains half a character, which PHP refuses
 */
export function serialize(request: CheckedRequest, extra: object = {}) {
  const paths = Object.keys(extra).flatMap(name => (REQUEST_FIELDS.includes(name) ? `extra.${name}` : []));
  if (paths.length > 0) throw refused('is a field of the request: set it there, not in extra', paths);
  const amount = typeof request.amount === 'string' ? rawJSON(request.amount) : request.amount;
  let text: string;
  try {
    text = JSON.stringify({ ...request, amount, ...extra });
  } catch {
    throw refused(
      'a value cannot be written as JSON: a BigInt, an object that contains itself, or a getter that throws',
    );
  }
  if (HALF_CHARACTER.test(text))
    throw refused('a text holds half a character (a lone surrogate), as when an emoji is cut in two');
  return text;
}

const refused = (message: string, paths = ['']) =>
  new InvalidRequestError(
    paths.map(path => ({ path, message })),
    'not_sent',
  );
