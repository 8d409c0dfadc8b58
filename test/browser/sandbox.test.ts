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
    const _callbacks = async () => {
      await sandbox.idle();
      return shop.posts.filter(({ url }) => url === '/callbacks').map(({ body }) => JSON.parse(body));
    };

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
