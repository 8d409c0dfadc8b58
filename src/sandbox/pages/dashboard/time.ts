// Formats times on the pages, all in UTC by the sandbox's clock.
import { html } from 'hono/html';
import type { Html } from '../layout.ts';

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Formats the time of day, with the date unless it is today. */
export function timeOf(at: number, now: number, { isPrecise = false } = {}): Html {
  const iso = new Date(at).toISOString();
  const time = iso.slice(11, isPrecise ? 23 : 19);
  const text = dayOf(at) === dayOf(now) ? time : `${iso.slice(0, 10)} ${time}`;
  return html`<time datetime="${iso}" title="${iso.slice(0, 10)} ${iso.slice(11, 23)} UTC">${text}</time>`;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** Formats a length of time for people: `12 ms`, `1.5 s`, `2 h 30 min`. */
export function spanOf(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(Math.round(ms / 100) / 10).toString()} s`;
  const parts: string[] = [];
  let rest = Math.round(ms / 1_000) * 1_000;
  for (const [name, length] of UNITS) {
    const count = Math.floor(rest / length);
    rest -= count * length;
    if (count > 0) parts.push(`${count} ${name}`);
  }
  return parts.slice(0, 2).join(' ');
}
