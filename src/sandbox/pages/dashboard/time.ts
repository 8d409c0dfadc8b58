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
