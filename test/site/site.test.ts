// The documentation's site, walked through in Chromium as a reader would, on a desk and on a phone.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsOf, overflowOf } from '../support/axe.ts';
import { hasChromium, openBrowser, strangersOf } from '../support/browser.ts';
import { lacks } from '../support/skips.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Nothing listens here: the browser gets the built files. */
const SITE = 'http://localhost:1';
const fileOf = (path: string) => join(root, 'docs/site/dist', path, path.endsWith('/') ? 'index.html' : '');
const GRAVE = ['serious', 'critical'];
const CLIENT = '/api/payment-gateway-sdk/classes/GatewayClient.html';

describe.skipIf(lacks(hasChromium, 'the site, which needs Chromium'))('the site', () => {
  let browser: Browser;

  beforeAll(async () => {
    // On Windows npm is a script, which only a shell runs.
    await promisify(execFile)('npm', ['run', 'docs'], { cwd: root, shell: process.platform === 'win32' });
    browser = await openBrowser();
  }, 600_000);
  afterAll(() => browser?.close());

  /** Runs a walk, and answers what went wrong on the way that a reader would not see. */
  async function walk(width: number, colorScheme: 'light' | 'dark', steps: (page: Page) => Promise<void>) {
    const context = await browser.newContext({ viewport: { width, height: 850 }, colorScheme });
    const page = await context.newPage();
    await page.route(`${SITE}/**`, route => {
      const path = fileOf(decodeURIComponent(new URL(route.request().url()).pathname));
      return route.fulfill(existsSync(path) ? { path } : { status: 404 });
    });
    const wrong = strangersOf(page, [SITE]);
    page.on('console', message => void (message.type() === 'error' && wrong.push(message.text())));
    page.on('pageerror', error => void wrong.push(String(error)));
    await page.goto(`${SITE}/`, { waitUntil: 'networkidle' });
    await steps(page);
    await context.close();
    return wrong;
  }

  const headingOf = (page: Page) => page.locator('h1').first().textContent();

  const isPhone = (width: number) => width < 500;

  describe.each([
    [1280, 'light'],
    [390, 'dark'],
  ] as const)('%i pixels wide, in %s', (width, scheme) => {
    it('leads from the first page to getting started and to the API', async () => {
      const wrong = await walk(width, scheme, async page => {
        expect(await faultsOf(page, GRAVE)).toEqual([]);

        await page.getByRole('link', { name: 'Get started' }).click();
        await page.waitForURL('**/getting-started.html');
        await expect.poll(() => headingOf(page)).toContain('Getting started');
        expect(await faultsOf(page, GRAVE)).toEqual([]);

        if (isPhone(width)) await page.getByRole('button', { name: 'mobile navigation' }).click();
        await page.getByRole('link', { name: 'API', exact: true }).locator('visible=true').click();
        await page.waitForURL('**/api/payment-gateway-sdk/');
        if (isPhone(width)) await page.getByRole('button', { name: 'Menu', exact: true }).click();
        await page.getByRole('link', { name: 'GatewayClient', exact: true }).locator('visible=true').first().click();
        await page.waitForURL(`**${CLIENT}`);
        await expect.poll(() => headingOf(page)).toContain('GatewayClient');
        expect(await page.getByText('settle(').count()).toBeGreaterThan(0);
        expect(await faultsOf(page, GRAVE)).toEqual([]);
      });
      expect(wrong).toEqual([]);
    });

    it('finds "settle", and opens what it has found', async () => {
      const wrong = await walk(width, scheme, async page => {
        await page.getByRole('button', { name: 'Search' }).first().click();
        await page.getByRole('searchbox').fill('settle');
        const results = page.locator('.VPLocalSearchBox .result');
        await expect.poll(() => results.count()).toBeGreaterThan(3);
        // The methods of the client are among what is found first.
        expect((await results.allTextContents()).join('\n')).toContain('settle()');
        await results.first().click();
        await page.waitForURL(url => url.pathname !== '/');
        await expect.poll(() => page.locator('main').textContent()).toMatch(/settle/i);
        expect(await overflowOf(page)).toBe(0);
      });
      expect(wrong).toEqual([]);
    });
  });

  it('has every page that its sidebars name, and no guide scrolls sideways on a desk or a phone', async () => {
    const wrong = await walk(1280, 'light', async page => {
      const paths = new Set<string>();
      for (const start of ['/getting-started.html', CLIENT]) {
        await page.goto(SITE + start);
        const links = page.locator('.VPSidebar a');
        const hrefs = await links.evaluateAll(all => all.map(link => link.getAttribute('href')));
        for (const href of hrefs) if (href) paths.add(href.replace(/#.*/, ''));
      }
      expect([...paths]).toEqual(
        expect.arrayContaining(['/changelog.html', '/orders.html', '/examples/payments.ts.html', CLIENT]),
      );
      const wide: string[] = [];
      for (const path of paths) {
        expect([path, existsSync(fileOf(path))]).toEqual([path, true]);
        // All pages of the API have one layout.
        if (path.startsWith('/api/') && path !== CLIENT) continue;
        await page.goto(SITE + path, { waitUntil: 'domcontentloaded' });
        for (const width of [390, 1280]) {
          await page.setViewportSize({ width, height: 850 });
          if ((await overflowOf(page)) !== 0) wide.push(`${path} at ${width}`);
        }
      }
      expect(wide).toEqual([]);
    });
    expect(wrong).toEqual([]);
  });
});
