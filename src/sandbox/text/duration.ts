// Reads times as people write them, such as 5s, and formats them.
import * as z from 'zod';
import { LONGEST_TIMER } from '../../deadline.ts';

/** Milliseconds, or a text such as `500ms`, `5s`, `2m`, `1h` or `7d`. */
export type Duration = number | string;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const ERROR = { error: 'must be a time such as 500ms, 5s, 2m, 1h or 7d, and at most 24 days' };

/** Returns milliseconds, or undefined for an invalid time or one above 24 days. */
export function durationOf(written: Duration): number | undefined {
  const [, count, unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|[smhd])?$/.exec(String(written)) ?? [];
  const ms = Number(count) * (UNITS[unit] ?? 1);
  return ms <= LONGEST_TIMER ? ms : undefined;
}

export const writtenDuration = z
  .union([z.number(), z.string()], ERROR)
  .refine(written => durationOf(written) !== undefined, ERROR)
  .meta({ title: 'time' });

export const duration = writtenDuration.transform(written => durationOf(written) ?? 0);

/** The longest wait of an API request, in real time. */
export const wait = duration
  .refine(ms => ms > 0 && ms <= 600_000, { error: 'must be above 0, and at most 10m' })
  .prefault('30s');

/** Formats a time: `12 ms`, `1.5 s`, `2 h 30 min`. */
export function spanOf(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${Math.round(ms / 100) / 10} s`;
  const seconds = Math.round(ms / 1_000);
  const counts = { d: seconds / 86_400, h: (seconds / 3_600) % 24, min: (seconds / 60) % 60, s: seconds % 60 };
  const parts = Object.entries(counts).flatMap(([unit, count]) => (count < 1 ? [] : `${Math.floor(count)} ${unit}`));
  return parts.slice(0, 2).join(' ');
}
