// Chromium, driven by playwright-core, if this machine has it.
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

/** The first has no windows to draw, and so is quicker than the others. */
const CANDIDATES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const executablePath = process.env.CHROMIUM_PATH ?? CANDIDATES.find(path => existsSync(path));

export const hasChromium = executablePath !== undefined;

/** Containers have no user namespaces for its sandbox; it opens nothing but our own pages. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ ...(executablePath && { executablePath }), args: ['--no-sandbox'] });

/** Requests that a page makes to anywhere but its own server. */
export function strangersOf(page: Page, own: readonly string[]): string[] {
  const strangers: string[] = [];
  page.on('request', request => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== 'data:' && !own.includes(origin)) strangers.push(request.url());
  });
  return strangers;
}
