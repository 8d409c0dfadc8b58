// Writes JSON and dates as the gateway's PHP does.
import { isJsonMap } from '../../schemas/json.ts';

/** Serializes like `json_encode`, with an empty map as an empty list. */
export function toPhpJson(value: unknown): string {
  const json = JSON.stringify(value, (_, part) => (isJsonMap(part) && Object.keys(part).length === 0 ? [] : part));
  return escapeNonAscii(json.replaceAll('/', '\\/'));
}

export const escapeNonAscii = (json: string): string =>
  json.replace(/[\u0080-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

export const toPhpDate = (milliseconds: number) => ({
  date: `${new Date(milliseconds).toISOString().slice(0, -1).replace('T', ' ')}000`,
  timezone_type: 3,
  timezone: 'UTC',
});

export const millisecondsOf = ({ date }: { date: string }) => Date.parse(`${date.slice(0, 23).replace(' ', 'T')}Z`);
