// Parses times as people write them: 500ms, 5s, 2m, 1h, 7d.
import * as z from 'zod';
import { LONGEST_TIMER } from '../deadline.ts';

/** Milliseconds, or a text such as `500ms`, `5s`, `2m`, `1h` or `7d`. */
export type Duration = number | string;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const ERROR = { error: 'must be a time such as 500ms, 5s, 2m, 1h or 7d, and at most 24 days' };

/** Returns milliseconds, or undefined for an invalid time or one above 24 days. A number counts as milliseconds. */
export function durationOf(written: Duration): number | undefined {
  const [, count, unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|[smhd])?$/.exec(String(written)) ?? [];
  const ms = Number(count) * (UNITS[unit] ?? 1);
  return ms <= LONGEST_TIMER ? ms : undefined;
}

/** Accepts a valid time, and returns it unchanged. */
export const writtenDuration = z
  .union([z.number(ERROR), z.string(ERROR)], ERROR)
  .refine(written => durationOf(written) !== undefined, ERROR)
  .meta({ title: 'time' });

/** Returns milliseconds. */
export const duration = writtenDuration.transform(written => durationOf(written) ?? 0);

/** The longest wait of a request to the sandbox's API, in real time. */
export const wait = duration
  .refine(ms => ms > 0 && ms <= 600_000, { error: 'must be above 0, and at most 10m' })
  .prefault('30s');
