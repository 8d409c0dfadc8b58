// Writes JSON and dates as the gateway's PHP does, so that merchants meet them in tests first.
import { isJsonMap } from '../../schemas/json.ts';
import type { PaymentRecord } from '../ledger/record.ts';

/** Serializes like `json_encode`: escapes slashes and all non-ASCII text, and writes an empty map as an empty list. */
export const toPhpJson = (value: unknown): string =>
  escapeNonAscii(JSON.stringify(value, (_key, part) => (isEmptyMap(part) ? [] : part)).replaceAll('/', '\\/'));

export const escapeNonAscii = (json: string): string =>
  json.replace(/[\u0080-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const isEmptyMap = (value: unknown): boolean => isJsonMap(value) && Object.keys(value).length === 0;

/** A PHP `DateTime` as JSON. */
type PhpDate = PaymentRecord['created'];

export const toPhpDate = (milliseconds: number): PhpDate => ({
  date: `${new Date(milliseconds).toISOString().slice(0, -1).replace('T', ' ')}000`,
  timezone_type: 3,
  timezone: 'UTC',
});

export const millisecondsOf = ({ date }: PhpDate): number => Date.parse(`${date.slice(0, 23).replace(' ', 'T')}Z`);
