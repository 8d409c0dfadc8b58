// The dashboard in a real browser: what a developer sees, does and keeps while things happen.
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasChromium, openBrowser, strangersOf } from '../support/browser.ts';
import { openShop, type Shop } from '../support/shop.ts';
import { lacks } from '../support/skips.ts';

describe.skipIf(lacks(hasChromium, 'the dashboard of the sandbox: no Chromium (Debian: apt-get install chromium)'))(
  'the dashboard in Chromium',
  () => {
    let browser: Browser;
    let context: BrowserContext;
    let page: Page;
    let shop: Shop;
    let sandbox: Sandbox<'onramp'>;
    let server: { url: string; close(): Promise<void> };
    let gateway: GatewayClient<'onramp'>;
    let strangers: string[];
    let complaints: string[];

    beforeAll(async () => {
      browser = await openBrowser();
      shop = await openShop();
    });
    afterAll(async () => {
      await browser.close();
      await shop.close();
    });
    beforeEach(async () => {
      shop.posts.splice(0);
      sandbox = new Sandbox({ terminal: 'onramp', payid: 'redirect' });
      server = await sandbox.listen();
      gateway = new GatewayClient({ ...sandbox.clientOptions, baseUrl: server.url, fetch: undefined });
      context = await browser.newContext();
      page = await context.newPage();
      page.setDefaultTimeout(5_000);
      strangers = strangersOf(page, [server.url, shop.url]);
      complaints = [];
      page.on('pageerror', error => complaints.push(error.message));
      page.on('console', message => {
        if (message.type() === 'error') complaints.push(message.text());
      });
    });
    afterEach(async () => {
      await context.close();
      await server.close();
      expect(strangers).toEqual([]);
    });

    async function create(request: object = {}) {
      const { payment } = await gateway.createPayment({
        paymentType: 'DEPOSIT',
        paymentMethod: 'CARD',
        amount: '25.50',
        currency: 'EUR',
        reference: 'order-1042',
        webhookUrl: `${shop.url}/callbacks`,
        ...request,
      } as never);
      return payment.id;
    }
    const button = (name: string | RegExp) => page.getByRole('button', { name });
    const row = (text: string) => page.getByRole('row').filter({ hasText: text });
    const isLive = () => page.locator('#live[data-state=live]').waitFor({ state: 'attached' });
    const focused = () => page.evaluate('document.activeElement.id');

    it('shows what happens while it is open, and moves from its list', async () => {
      await page.goto(server.url);
      await page.getByText('No payment yet.').waitFor();
      await create({ reference: 'live-1' });
      await row('live-1').getByRole('button', { name: 'Complete' }).click();
      await row('live-1').getByText('COMPLETED', { exact: true }).waitFor();
      await page.locator('#notice').getByText('live-1 is now COMPLETED, and its callback goes out.').waitFor();
      await row('live-1').getByRole('link', { name: 'Callback 1: 200' }).waitFor();
      // A final payment moves on its own page, by force.
      expect(await row('live-1').getByRole('button').count()).toBe(0);
      await row('live-1').getByRole('link', { name: 'live-1' }).click();
      await page.getByText('COMPLETED is final').waitFor();
      await button('Complete').click();
      await page.getByText('Nothing changed: live-1 was COMPLETED already').first().waitFor();
      await sandbox.idle();
      expect(shop.posts).toHaveLength(1);
      expect(await page.title()).toContain('COMPLETED: live-1');
      expect(complaints).toEqual([]);
    });

    it('streams calls, moves and callbacks live, and searches all of them', async () => {
      await page.goto(`${server.url}/activity`);
      await isLive();
      await sandbox.complete(await create({ reference: 'stream-1' }));
      await page.locator('#callback-1').getByText('200').waitFor();
      await page.locator('#call-1').getByText('Created').waitFor();
      await page.getByLabel('Search').fill('STREAM-1');
      await create({ reference: 'other' });
      await page.locator('#tab-activity').getByText('3').waitFor();
      expect(await page.locator('.timeline > li').count()).toBe(3);
      expect(page.url()).toBe(`${server.url}/activity?search=STREAM-1`);
    });

    it('arms a fault with its options, says so on every page, and shows the refused call with its reason', async () => {
      await page.goto(`${server.url}/faults`);
      await page.getByLabel('How often').fill('2');
      await page.getByLabel('Only for the reference').fill('unlucky');
      await button('Arm reject-422').click();
      await page.getByText('The next 2 creates with reference unlucky meet reject-422').first().waitFor();
      expect(sandbox.faults.armed).toMatchObject([{ fault: 'reject-422', count: 2, reference: 'unlucky' }]);
      await create();
      await expect(create({ reference: 'unlucky' })).rejects.toMatchObject({ status: 422 });
      await page.getByRole('link', { name: 'Activity' }).click();
      await page.getByText('Armed.', { exact: true }).waitFor();
      await page.locator('.timeline > li').filter({ hasText: 'reject-422' }).getByRole('link').click();
      await page.getByRole('heading', { level: 1 }).getByText('422').waitFor();
      await button('Disarm all').click();
      await page.getByText('Armed.', { exact: true }).waitFor({ state: 'detached' });
      expect(sandbox.faults.armed).toEqual([]);
    });

    it('redelivers a callback as it was edited, and keeps what is typed meanwhile', async () => {
      await sandbox.complete(await create());
      await sandbox.idle();
      await page.goto(`${server.url}/deliveries/1`);
      await isLive();
      const editor = page.getByLabel('Body posted byte for byte');
      await editor.fill('{"paymentStatus":"FAILED"}');
      await create({ reference: 'meanwhile' });
      await page.locator('#tab-payments').getByText('2').waitFor();
      expect(await editor.inputValue()).toBe('{"paymentStatus":"FAILED"}');
      expect(await focused()).toBe('edited');
      await button('Redeliver').click();
      await page.waitForURL(`${server.url}/deliveries/1?notice=1`);
      await page.getByText('Callback 2 was posted. Your app took it: 200').first().waitFor();
      expect(shop.posts.map(({ body }) => body).at(-1)).toBe('{"paymentStatus":"FAILED"}');
    });

    it('filters while it is typed, and a refresh loses neither the text, nor the focus, nor what is opened', async () => {
      await create({ reference: 'apple' });
      await create({ reference: 'pear' });
      await page.goto(server.url);
      await isLive();
      await page.keyboard.press('/');
      await page.keyboard.type('pear');
      await row('apple').waitFor({ state: 'detached' });
      expect(page.url()).toBe(`${server.url}/?search=pear`);
      await create({ reference: 'pear-2' });
      await row('pear-2').waitFor();
      expect([await focused(), await page.locator('#search').inputValue()]).toEqual(['search', 'pear']);
      await page.getByText('Sandbox clock, UTC').click();
      await create({ reference: 'pear-3' });
      await row('pear-3').waitFor();
      expect(await button('Advance by 1 h').isVisible()).toBe(true);
      await page.keyboard.press('Escape');
      expect(await button('Advance by 1 h').isVisible()).toBe(false);
      expect(await page.evaluate('document.activeElement.className')).toBe('clock');
    });

    it('keeps its place while newer payments come', async () => {
      for (let count = 0; count < 40; count++) await create({ reference: `old-${count}` });
      await page.goto(server.url);
      await isLive();
      const old = row('old-7');
      await old.scrollIntoViewIfNeeded();
      const opened = sandbox.payments[7]?.id;
      await page.locator(`#open-${opened}`).focus();
      await create({ reference: 'newer' });
      await row('newer').waitFor({ state: 'attached' });
      expect(await focused()).toBe(`open-${opened}`);
      expect(await page.evaluate('scrollY')).toBeGreaterThan(100);
    });

    it('tells a payment live, and moves the clock to a callback that waits', async () => {
      const id = await create();
      sandbox.faults.next('callback-delay', { ms: 3_600_000 });
      await page.goto(`${server.url}/payments/${id}`);
      await isLive();
      await page.locator(`#complete-${id}`).click();
      await button('Move the clock there').click();
      await page.getByRole('link', { name: 'Callback 1' }).first().waitFor();
      await page.locator('.timeline').getByText('200').first().waitFor();
      expect(await page.title()).toContain('COMPLETED: order-1042');
      expect(shop.posts).toHaveLength(1);
      await page.getByText('Sandbox clock, UTC').click();
      await button('Set it right').click();
      await expect.poll(() => Math.abs(sandbox.clock.offset)).toBeLessThan(1);
    });

    it('a page that has missed what happened says why its move was refused', async () => {
      const id = await create();
      await page.route('**/live', route => route.abort());
      await page.goto(`${server.url}/payments/${id}`);
      await page.getByText('Not connected').waitFor();
      await sandbox.cancel(id);
      await page.locator(`#complete-${id}`).click();
      await page.getByRole('alert').getByText('CANCELED, which is final').waitFor();
      await page.getByText('CANCELED is final').waitFor();
      await page.locator(`#complete-${id}`).click();
      await page.getByText('COMPLETED is final').waitFor();
      expect(await page.getByRole('alert').isVisible()).toBe(false);
    });

    it('misses nothing that happens while it opens, and says what has moved', async () => {
      for (let count = 0; count < 5; count++) {
        await page.goto(server.url, { waitUntil: 'commit' });
        const reference = `early-${count}`;
        const id = await create({ reference });
        await row(reference).waitFor();
        await sandbox.complete(id);
        await expect.poll(() => page.getByRole('status').textContent()).toContain(`${reference} is COMPLETED`);
      }
    });

    it('is worked by the keyboard alone', async () => {
      const id = await create({ reference: 'keys' });
      await page.goto(server.url);
      await isLive();
      await page.locator(`#open-${id}`).focus();
      await page.keyboard.press('Tab');
      expect(await focused()).toBe(`complete-${id}`);
      await page.keyboard.press('Enter');
      await page.locator(`#row-${id}`).getByText('COMPLETED', { exact: true }).waitFor();
      // Its button is gone, and the focus is where the page begins.
      await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1');
    });

    it('resets the sandbox once that is confirmed', async () => {
      await create();
      await page.goto(`${server.url}/activity`);
      await isLive();
      await page.getByText('Sandbox clock, UTC').click();
      await page.getByText('Reset the sandbox').click();
      expect(sandbox.payments).toHaveLength(1);
      await button('Yes, forget everything').click();
      await page.getByText('No payment yet.').waitFor();
      await page.getByText('The sandbox has forgotten everything.').waitFor();
      expect(sandbox.payments).toEqual([]);
    });

    it('without JavaScript everything works, page by page', async () => {
      const plain = await browser.newContext({ javaScriptEnabled: false });
      const quiet = await plain.newPage();
      quiet.setDefaultTimeout(5_000);
      const id = await create({ reference: 'plain-1' });
      await create({ reference: 'other' });
      await quiet.goto(server.url);
      await quiet.getByLabel('Search').fill('plain');
      await quiet.getByRole('button', { name: 'Search' }).click();
      await quiet.getByRole('button', { name: 'Complete' }).click();
      await quiet.waitForURL(/search=plain.*notice=1/);
      await quiet.getByText('plain-1 is now COMPLETED').waitFor();
      expect(sandbox.payments).toMatchObject([{ id, paymentStatus: 'COMPLETED' }, { paymentStatus: 'PENDING' }]);
      await sandbox.idle();
      await quiet.goto(server.url);
      await quiet.getByRole('link', { name: 'Callback 1: 200' }).click();
      await quiet.getByRole('button', { name: 'Redeliver' }).click();
      await quiet.getByText('Your app took it: 200').first().waitFor();
      expect(sandbox.deliveries.map(({ status }) => status)).toEqual([200, 200]);
      await quiet.getByRole('link', { name: 'Faults' }).click();
      await quiet.getByRole('button', { name: 'Arm callback-lose' }).click();
      await quiet.getByRole('button', { name: /^Disarm callback-lose/ }).click();
      await quiet.getByText('The fault is disarmed.').waitFor();
      expect(sandbox.faults.armed).toEqual([]);
      await plain.close();
    });
  },
);
