// What axe finds wrong with a page, and whether the page scrolls sideways.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { tool } from './install.ts';

const axe = readFileSync(tool('axe-core/axe.min.js'), 'utf8');

/**
 * With everything that can be opened open, but menus: those lie over the page.
 *
 * @param rules those of axe that are checked; all of them, unless said otherwise
 */
export async function faultsOf(page: Page, rules?: readonly string[]): Promise<unknown[]> {
  for (const details of await page.locator('details:not(.menu)').all()) {
    await details.evaluate(box => box.setAttribute('open', ''));
  }
  // Outside of the page's policy: axe is the tester's, and not the page's.
  const violations =
    (await page.evaluate(`(() => { ${axe}; return axe.run(${rules ? JSON.stringify({ runOnly: rules }) : ''}) })().then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`)) as string[];
  const overflow = await overflowOf(page);
  return overflow === 0 ? violations : [...violations, `scrolls sideways by ${overflow} pixels`];
}

/** Pixels by which a page is wider than its window. */
export const overflowOf = (page: Page): Promise<unknown> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
