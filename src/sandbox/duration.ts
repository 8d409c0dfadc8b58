// Parses times as people write them: 500ms, 5s, 2m, 1h, 7d.
import { LONGEST_TIMER } from '../deadline.ts';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The longest wait of a request to the sandbox's API, in milliseconds of real time. */
export const LONGEST_WAIT = 600_000;

/** The accepted form, for messages. */
export const DURATION = 'a time such as 500ms, 5s, 2m, 1h or 7d';

/** Returns milliseconds, or undefined for an invalid time or one above 24 days. A number counts as milliseconds. */
export function durationOf(written: string | number): number | undefined {
  const [, count, unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|[smhd])?$/.exec(String(written)) ?? [];
  const ms = Number(count) * (UNITS[unit] ?? 1);
  return ms <= LONGEST_TIMER ? ms : undefined;
}
