// Writes a checked request as JSON.
import { InvalidRequestError } from '../../errors.ts';
import { rawJSON } from '../json.ts';
import type { CheckedRequest } from './checked-request.ts';
import { REQUEST_FIELDS } from './schema.ts';

/**
 * Writes a request as JSON. Fields of `extra` come last. An amount given as text keeps its digits. Getters and
 * `toJSON` run only here: the store reads the text.
 *
 * @throws {InvalidRequestError} if `extra` repeats a field of the request, or JSON cannot contain a value
 */
export function serialize(request: CheckedRequest, extra: object = {}): string {
  const repeated = Object.keys(extra).find(name => REQUEST_FIELDS.has(name));
  if (repeated) throw refused(`extra.${repeated}`, 'is a field of the request: set it there, not in extra');
  const amount = typeof request.amount === 'string' ? rawJSON(request.amount) : request.amount;
  try {
    return JSON.stringify({ ...request, amount, ...extra });
  } catch {
    throw refused(
      '',
      'a value cannot be written as JSON: a BigInt, an object that contains itself, or a getter that throws',
    );
  }
}

const refused = (path: string, message: string) => new InvalidRequestError([{ path, message }], 'not_sent');
