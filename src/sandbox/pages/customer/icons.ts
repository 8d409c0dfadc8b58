// The icons of the customer's pages, inline so that they need no outside resource.
import { html, raw } from 'hono/html';
import type { Html } from '../layout.ts';

const PATHS = {
  check: '<path d="M5 12.5l4.5 4.5L19 7.5"/>',
  cross: '<path d="M7 7l10 10M17 7L7 17"/>',
  clock: '<circle cx="12" cy="12" r="8"/><path d="M12 7.5V12l3 2"/>',
  back: '<path d="M14.5 6l-6 6 6 6"/>',
  next: '<path d="M9.5 6l6 6-6 6"/>',
  lock: '<rect x="5.5" y="10.5" width="13" height="9" rx="2"/><path d="M8.5 10.5V8a3.5 3.5 0 017 0v2.5"/>',
} as const;

export type IconName = keyof typeof PATHS;

/** Returns an icon for decoration: the adjacent words say the same. */
export const icon = (name: IconName): Html =>
  html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">${raw(PATHS[name])}</svg>`;
