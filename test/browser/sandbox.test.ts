// The sandbox's dashboard in a real browser: a developer watches, and moves payments.
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { faultsOf } from '../support/axe.ts';
import { hasChromium, openBrowser, strangersOf } from '../support/browser.ts';
import { openShop, type Shop } from '../support/shop.ts';
import { lacks } from '../support/skips.ts';

describe.skipIf(lacks(hasChromium, 'the pages of the sandbox: no Chromium (Debian: apt-get install chromium)'))(
  'in Chromium',
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
      const { payment, nextAction } = await gateway.createPayment({
        paymentType: 'DEPOSIT',
        paymentMethod: 'CARD',
        amount: '25.50',
        currency: 'EUR',
        reference: 'order-1042',
        webhookUrl: `${shop.url}/callbacks`,
        returnUrl: `${shop.url}/thanks`,
        ...request,
      } as never);
      return { id: payment.id, url: nextAction.type === 'redirect' ? nextAction.redirectUrl : '' };
    }
    const button = (name: string | RegExp) => page.getByRole('button', { name });
    const callbacks = async () => {
      await sandbox.idle();
      return shop.posts.filter(({ url }) => url === '/callbacks').map(({ body }) => JSON.parse(body));
    };

    it('the dashboard shows what happens while it is open, moves, redelivers, and arms a fault', async () => {
      await page.goto(server.url);
      expect(await page.getByText('No payment yet.').isVisible()).toBe(true);
      await create({ reference: 'live-1' });
      const row = page.getByRole('row').filter({ hasText: 'live-1' });
      await row.waitFor();
      await button('Complete live-1').click();
      await row.getByText('COMPLETED').waitFor();
      await page.getByText('Body of callback 1').click();
      await page
        .getByRole('region', { name: 'Body of callback 1' })
        .getByText('"paymentStatus": "COMPLETED"')
        .waitFor();
      await button('Redeliver callback 1').click();
      await button('Redeliver callback 2').waitFor();
      // What the reader has opened stays open, and the focus stays.
      expect(await page.getByRole('region', { name: 'Body of callback 1' }).isVisible()).toBe(true);
      expect(
        await button('Redeliver callback 1').evaluate(element => element === element.ownerDocument.activeElement),
      ).toBe(true);
      expect(await callbacks()).toHaveLength(2);

      await page.getByLabel('The next call, or the next callback, meets').selectOption('reject-422');
      await button('Arm').click();
      await page.getByText('for the next create').waitFor();
      expect(sandbox.faults.armed).toMatchObject([{ fault: 'reject-422' }]);
      await expect(create()).rejects.toMatchObject({ status: 422 });
      await page.getByText('for the next create').waitFor({ state: 'detached' });
      await page.getByText('This currency').or(page.getByText('The given data was invalid.')).first().waitFor();
      expect(complaints).toEqual([]);
    });

    it('a page that has missed what happened says why its move was refused', async () => {
      const { id } = await create();
      await page.route('**/live', route => route.abort());
      await page.goto(`${server.url}/payments/${id}`);
      await page.getByText('Not connected').waitFor();
      await sandbox.cancel(id);
      await button('Complete').click();
      await page.getByRole('alert').getByText('CANCELED, which is final').waitFor();
      await page.getByText('CANCELED is final. Move it all the same').click();
      await button('Complete').click();
      await page.getByText('COMPLETED is final').waitFor();
      expect(await page.getByRole('alert').isVisible()).toBe(false);
    });

    it('the dashboard misses nothing that happens while it opens, and says what has moved', async () => {
      for (let count = 0; count < 5; count++) {
        await page.goto(server.url, { waitUntil: 'commit' });
        const reference = `early-${count}`;
        const { id } = await create({ reference });
        await page.getByRole('row').filter({ hasText: reference }).waitFor();
        await sandbox.complete(id);
        await page.getByRole('status').getByText(`${reference} is COMPLETED`).waitFor({ state: 'attached' });
      }
    });

    it('the focus stays with its own payment, and with a neighbour when its button has gone', async () => {
      const first = await create({ reference: 'dup' });
      const second = await create({ reference: 'dup' });
      await page.goto(server.url);
      await page.getByText('Live', { exact: true }).waitFor();
      await page.locator(`#complete-${first.id}`).focus();
      await create({ reference: 'news' });
      await page.getByRole('row').filter({ hasText: 'news' }).waitFor();
      const focused = () => page.evaluate('document.activeElement.id');
      expect(await focused()).toBe(`complete-${first.id}`);
      await page.keyboard.press('Enter');
      await page.locator(`#row-${first.id}`).getByText('COMPLETED').waitFor();
      await expect.poll(focused).toBe(`open-${first.id}`);
      expect(await gateway.getPayment(second.id)).toMatchObject({ paymentStatus: 'PENDING' });
    });

    it('seven tabs leave a connection for the payment page', async () => {
      const { url } = await create();
      for (let count = 0; count < 7; count++) {
        const tab = await context.newPage();
        await tab.goto(server.url);
        await tab.evaluate(
          `Object.defineProperty(document, 'hidden', { value: true }); document.dispatchEvent(new Event('visibilitychange'))`,
        );
      }
      await page.goto(url);
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('25.50 EUR');
    });

    it('without JavaScript everything works, page by page', async () => {
      const plain = await browser.newContext({ javaScriptEnabled: false });
      const quiet = await plain.newPage();
      await create({ reference: 'plain-1' });
      await quiet.goto(server.url);
      await quiet.getByRole('button', { name: 'Complete plain-1' }).click();
      await quiet.waitForURL(`${server.url}/payments/**`);
      expect(await quiet.getByText('COMPLETED is final').isVisible()).toBe(true);
      await plain.close();
    });

    it('another site cannot press its buttons', async () => {
      const { id } = await create();
      await page.goto(shop.url);
      const form = `<form method="post" action="${server.url}/payments/${id}"><button name="move" value="complete">Win</button></form>`;
      await page.setContent(form);
      await button('Win').click();
      await page.getByText('A page from elsewhere must not press the buttons of the sandbox.').waitFor();
      expect(sandbox.payments[0]).toMatchObject({ paymentStatus: 'PENDING' });
    });

    it('what a merchant sent runs nowhere', async () => {
      const attack = `"'><img src=x onerror="document.title='pwned'"><script>document.title='pwned'</script>`;
      const { id } = await create({ reference: attack, description: attack, customer: { firstName: attack } });
      await sandbox.fail(id, { reason: attack });
      await sandbox.idle();
      for (const path of ['/', `/pay/${id}`, `/payments/${id}`]) {
        await page.goto(server.url + path);
        expect(await page.title()).not.toBe('pwned');
        expect(await page.locator('img').count()).toBe(0);
        expect(await page.getByText(`onerror="document.title='pwned'"`).first().isVisible()).toBe(true);
      }
    });

    describe.each(['light', 'dark'] as const)('in %s colours', colorScheme => {
      it.each([1280, 390])('at a width of %d no page has an axe violation, or scrolls sideways', async width => {
        const card = await create({ description: 'Two tickets to Lisbon', amount: 1_249_999.5 });
        await create({ paymentMethod: 'USER_CHOICE', currency: 'BRL', reference: 'x'.repeat(120) });
        const { id } = await create({ paymentMethod: 'ONRAMP_PIX', currency: 'BRL' });
        await create({ paymentType: 'WITHDRAWAL', paymentMethod: 'SEPA' });
        await sandbox.authorize(card.id);
        await sandbox.fail(id, { code: 4004 });
        await sandbox.complete(id, { force: true });
        sandbox.faults.next('slow');
        await sandbox.idle();
        const seen = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
        const tab = await seen.newPage();
        for (const path of ['/', `/payments/${id}`, `/payments/${card.id}`, '/nowhere']) {
          await tab.goto(server.url + path);
          expect([path, await faultsOf(tab)]).toEqual([path, []]);
        }
        await seen.close();
      });
    });
  },
);
