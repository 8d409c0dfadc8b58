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
  card: '<rect x="3" y="5.5" width="18" height="13" rx="2.5"/><path d="M3 10h18M6.5 15h4"/>',
  wallet:
    '<path d="M4 7.5A2.5 2.5 0 016.5 5H17v3"/><rect x="4" y="8" width="16" height="11" rx="2.5"/><path d="M16 13.5h.01"/>',
  phone: '<rect x="7" y="3" width="10" height="18" rx="2.5"/><path d="M11 18h2"/>',
  bank: '<path d="M4 9.5L12 5l8 4.5zM5.5 19h13M7 12.5v4M12 12.5v4M17 12.5v4"/>',
  transfer: '<path d="M4 9h14l-3.5-3.5M20 15H6l3.5 3.5"/>',
  qr: '<rect x="4" y="4" width="6" height="6" rx="1"/><rect x="14" y="4" width="6" height="6" rx="1"/><rect x="4" y="14" width="6" height="6" rx="1"/><path d="M14 14h2v2M20 14v.01M14 20h.01M18 18h2v2"/>',
} as const;

export type IconName = keyof typeof PATHS;

/** Returns an icon for decoration: the adjacent words say the same. */
export const icon = (name: IconName): Html =>
  html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">${raw(PATHS[name])}</svg>`;
