// The sandbox in a real browser: a customer pays on its pages, and a developer watches on its dashboard.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasChromium, openBrowser, strangersOf } from '../support/browser.ts';
import { openShop, type Shop } from '../support/shop.ts';
import { lacks } from '../support/skips.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

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
    const callbacks = async () => {
      await sandbox.idle();
      return shop.posts.filter(({ url }) => url === '/callbacks').map(({ body }) => JSON.parse(body));
    };

    it('a customer pays at the redirectUrl, the callback arrives, and the customer is back in the shop', async () => {
      const { id, url } = await create();
      await page.goto(url);
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('25.50 EUR');
      await button('Pay 25.50 EUR').click();
      await page.waitForURL(`${shop.url}/thanks`);
      expect(await callbacks()).toMatchObject([{ id, paymentStatus: 'COMPLETED', reference: 'order-1042' }]);
      expect(await gateway.getPayment(id)).toMatchObject({ paymentStatus: 'COMPLETED' });
      await page.goto(url);
      expect(await page.getByText('This payment is paid.').isVisible()).toBe(true);
      await page.getByRole('link', { name: 'Back to the shop' }).click();
      await page.waitForURL(`${shop.url}/thanks`);
    });

    it.each([
      ['Insufficient balance', 'Insufficient balance'],
      ['Payment not funded', 'Payment not funded'],
    ])('a payment is declined: %s', async (label, errorMessage) => {
      const { id, url } = await create();
      await page.goto(url);
      await page.getByLabel('Decline, because').selectOption({ label });
      await button('Decline').click();
      await page.waitForURL(`${shop.url}/thanks`);
      expect(await callbacks()).toMatchObject([{ id, paymentStatus: 'FAILED', errorMessage }]);
    });

    it('a payment is authorised, then captured; another is abandoned', async () => {
      const first = await create();
      await page.goto(first.url);
      await button('Authorise first').click();
      await page.waitForURL(`${shop.url}/thanks`);
      await page.goto(first.url);
      await button(/^Pay/).click();
      await page.waitForURL(`${shop.url}/thanks`);
      const second = await create();
      await page.goto(second.url);
      await button(/^Abandon/).click();
      await page.waitForURL(`${shop.url}/thanks`);
      expect((await callbacks()).map(({ paymentStatus }) => paymentStatus)).toEqual(['AUTHORIZED', 'COMPLETED']);
      expect(await gateway.getPayment(second.id)).toMatchObject({ paymentStatus: 'PENDING' });
    });

    it('the customer chooses a method in the on-ramp widget, by keyboard, and is settled in crypto', async () => {
      const { id, url } = await create({ paymentMethod: 'USER_CHOICE', amount: 540, currency: 'BRL' });
      await page.goto(url);
      await page.getByRole('radio', { name: 'PayID' }).focus();
      await page.keyboard.press('ArrowDown');
      expect(await page.getByRole('radio', { name: 'Pix' }).isChecked()).toBe(true);
      await button('Pay 540.00 BRL').press('Enter');
      await page.waitForURL(`${shop.url}/thanks`);
      expect(await callbacks()).toMatchObject([
        { id, paymentMethod: 'ONRAMP_PIX', paymentStatus: 'COMPLETED', settled_crypto_amount: 498.84526559 },
      ]);
      await page.goto(url);
      expect(await page.getByText('498.84526559 USDT').isVisible()).toBe(true);
    });

    it('a PayID customer sees the instructions, and has paid', async () => {
      const { id, url } = await create({ paymentMethod: 'PAYID', amount: 80, currency: 'AUD' });
      await page.goto(url);
      expect(await page.getByText(`pay-${id.slice(0, 8)}@sandbox.example`).isVisible()).toBe(true);
      await button('The customer has paid').click();
      await page.waitForURL(`${shop.url}/thanks`);
      expect(await callbacks()).toMatchObject([{ id, paymentStatus: 'COMPLETED' }]);
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
        const payments = {
          card: await create({ description: 'Two tickets to Lisbon', amount: 1_249_999.5 }),
          payid: await create({ paymentMethod: 'PAYID', currency: 'AUD' }),
          onramp: await create({ paymentMethod: 'USER_CHOICE', currency: 'BRL', reference: 'x'.repeat(120) }),
          final: await create({ paymentMethod: 'ONRAMP_PIX', currency: 'BRL' }),
        };
        await create({ paymentType: 'WITHDRAWAL', paymentMethod: 'SEPA' });
        await sandbox.authorize(payments.card.id);
        await sandbox.fail(payments.final.id, { code: 4004 });
        await sandbox.complete(payments.final.id, { force: true });
        sandbox.faults.next('slow');
        await sandbox.idle();
        const seen = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
        const tab = await seen.newPage();
        const { id } = payments.final;
        const paths = Object.values(payments).map(payment => `/pay/${payment.id}`);
        for (const path of ['/', `/payments/${id}`, `/payments/${payments.card.id}`, '/nowhere', ...paths]) {
          await tab.goto(server.url + path);
          for (const details of await tab.locator('details').all())
            await details.evaluate(box => box.setAttribute('open', ''));
          // Outside of the page's policy: axe is the tester's, and not the page's.
          const violations = await tab.evaluate(`(() => { ${axe}; return axe.run() })().then(({ violations }) =>
            violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`);
          expect([path, violations]).toEqual([path, []]);
          const overflow = await tab.evaluate(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth',
          );
          expect([path, overflow]).toEqual([path, 0]);
        }
        await seen.close();
      });
    });
  },
);
