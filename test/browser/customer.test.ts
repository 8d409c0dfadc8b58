// The customer's pages in a real browser: each family of methods is walked as a customer would, with and without the script.
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { faultsOf, overflowOf } from '../support/axe.ts';
import { hasChromium, openBrowser, strangersOf } from '../support/browser.ts';
import { openShop, type Shop } from '../support/shop.ts';
import { lacks } from '../support/skips.ts';

describe.skipIf(lacks(hasChromium, "the customer's pages: no Chromium (Debian: apt-get install chromium)"))(
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
      sandbox = new Sandbox({ terminal: 'onramp', payid: 'redirect', shopName: 'Nordlicht Records' });
      server = await sandbox.listen();
      gateway = new GatewayClient({ ...sandbox.clientOptions, baseUrl: server.url, fetch: undefined });
      await look();
    });
    afterEach(async () => {
      await context.close();
      await server.close();
      expect(strangers).toEqual([]);
      expect(complaints).toEqual([]);
    });

    /** Opens a browser of these options in place of the one that is open. */
    async function look(options: BrowserContextOptions = {}) {
      await context?.close();
      context = await browser.newContext(options);
      page = await context.newPage();
      page.setDefaultTimeout(5_000);
      strangers = strangersOf(page, [server.url, shop.url]);
      complaints = [];
      page.on('pageerror', error => complaints.push(error.message));
      page.on('console', message => {
        // A form that is asked to mend is answered 422, which Chromium logs.
        if (message.type() === 'error' && !message.text().includes('422')) complaints.push(message.text());
      });
    }

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
    const link = (name: string | RegExp) => page.getByRole('link', { name });
    const title = (name: string) => page.getByRole('heading', { name, exact: true });
    const openControls = () => page.getByText('your customers do not see this').click();
    const backInShop = () => page.waitForURL(`${shop.url}/thanks`);
    const callbacks = async () => {
      await sandbox.idle();
      return shop.posts.filter(({ url }) => url === '/callbacks').map(({ body }) => JSON.parse(body));
    };
    const focused = () => page.evaluate('document.activeElement.id');

    /** How a customer pays by each family, to the last click before the shop. */
    const WALKS: Record<string, { request: object; pay: () => Promise<unknown> }> = {
      CARD: {
        request: {},
        async pay() {
          await page.getByLabel('Card number').fill('4242 4242 4242 4242');
          await page.getByLabel('Expiry date').fill('12 / 48');
          await page.getByLabel('Security code').fill('123');
          await page.getByLabel('Name on card').fill('Alex Example');
          await button('Pay 25.50 EUR').click();
        },
      },
      APPLEPAY: {
        request: { billingAddress: { countryCode: 'DE' } },
        async pay() {
          await link('Buy with Apple Pay').click();
          await button('Pay with passcode').click();
        },
      },
      GOOGLEPAY: {
        request: {},
        async pay() {
          await link('Buy with Google Pay').click();
          await button('Pay 25.50 EUR').click();
        },
      },
      BLIK: {
        request: { currency: 'PLN' },
        async pay() {
          await page.getByLabel('BLIK code').fill('777123');
          await button('Pay 25.50 PLN').click();
          await button('Approve').click();
        },
      },
      IDEAL: {
        request: {},
        async pay() {
          await button('Waterkant Bank').click();
          await button('Approve').click();
        },
      },
      BANCONTACT: {
        request: {},
        async pay() {
          await link('Card number').click();
          await page.getByLabel('Card number').fill('6703 4444 4444 4449');
          await page.getByLabel('Expiry date').fill('12 / 48');
          await page.getByLabel('Name on card').fill('Alex Example');
          await button('Pay 25.50 EUR').click();
        },
      },
      EPS: {
        request: {},
        async pay() {
          await button('Enzianbank').click();
          await button('Approve').click();
        },
      },
      P24: {
        request: { currency: 'PLN' },
        async pay() {
          await button('Bank Żubrowy').click();
          await button('Approve').click();
        },
      },
      MULTIBANCO: { request: {}, pay: () => button("I've paid at a cash machine").click() },
      PAYID: { request: { currency: 'AUD' }, pay: () => button("I've sent the transfer").click() },
      USER_CHOICE: {
        request: { currency: 'BRL', amount: 540 },
        async pay() {
          await button('Pix').click();
          await page.getByRole('img', { name: 'QR code' }).waitFor();
          await button("I've paid in my app").click();
        },
      },
      ONRAMP: {
        request: { currency: 'GBP' },
        async pay() {
          await button('Open Banking').click();
          await button('Copperleaf').click();
          await button('Approve').click();
        },
      },
      ONRAMP_SPEI: { request: { currency: 'MXN' }, pay: () => button("I've sent the transfer").click() },
    };

    describe.each([
      ['with its script', {}],
      ['without JavaScript', { javaScriptEnabled: false }],
    ])('%s', (_, options) => {
      it.each(Object.keys(WALKS))('a customer pays by %s, and is back in the shop', async paymentMethod => {
        await look(options);
        const { request, pay } = WALKS[paymentMethod] as (typeof WALKS)[string];
        const { id, url } = await create({ paymentMethod, ...request });
        await page.goto(url);
        expect(await page.getByText('Nordlicht Records').first().isVisible()).toBe(true);
        await pay();
        await backInShop();
        expect(await callbacks()).toMatchObject([{ id, paymentStatus: 'COMPLETED', reference: 'order-1042' }]);
        await page.goto(url);
        await title('Payment complete').waitFor();
        await link('Back to the shop').click();
        await backInShop();
      });

      it('the test controls fill in a card that is declined', async () => {
        await look(options);
        const { id, url } = await create();
        await page.goto(url);
        await link('Test numbers').click();
        await button('Use 4000 0000 0000 9995').click();
        await expect.poll(() => page.getByLabel('Card number').inputValue()).toBe('4000 0000 0000 9995');
        await button('Pay 25.50 EUR').click();
        await backInShop();
        expect(await callbacks()).toMatchObject([
          { id, paymentStatus: 'FAILED', errorMessage: 'Insufficient balance' },
        ]);
      });

      it('a card form with mistakes says so beside its fields, and can be mended', async () => {
        await look(options);
        const { url } = await create();
        await page.goto(url);
        await page.getByLabel('Card number').fill('4539 5787 6362 1486');
        await page.getByLabel('Expiry date').fill('12 / 48');
        await button('Pay 25.50 EUR').click();
        await page.locator('#number-error').getByText('Test page: never type a real card.').waitFor();
        await page.getByText('Enter the security code.').waitFor();
        expect(await focused()).toBe('number');
        expect(await page.getByLabel('Card number').inputValue()).toBe('');
        expect(await page.getByLabel('Expiry date').inputValue()).toBe('12 / 48');
        await (WALKS.CARD as (typeof WALKS)[string]).pay();
        await backInShop();
      });
    });

    it.each(['Insufficient balance', 'CVV error', 'Canceled by the user', 'Payment not funded'])(
      'a tester declines a payment: %s',
      async label => {
        const { id, url } = await create();
        await page.goto(url);
        await openControls();
        await page.getByLabel('Decline, because').selectOption({ label });
        await button('Decline').click();
        await backInShop();
        expect(await callbacks()).toMatchObject([{ id, paymentStatus: 'FAILED', errorMessage: label }]);
        await page.goto(url);
        await page.getByText(label, { exact: true }).waitFor();
      },
    );

    it('a tester authorises a payment and captures it, lets one expire, and abandons another', async () => {
      const first = await create();
      await page.goto(first.url);
      await openControls();
      await button('Authorise first').click();
      await backInShop();
      await page.goto(first.url);
      await title('Payment approved').waitFor();
      await openControls();
      await button('Capture: the shop takes the money').click();
      await backInShop();
      const second = await create();
      await page.goto(second.url);
      await openControls();
      await button('Let it expire').click();
      await backInShop();
      const third = await create();
      await page.goto(third.url);
      await openControls();
      await button(/^Abandon/).click();
      await backInShop();
      expect((await callbacks()).map(({ paymentStatus }) => paymentStatus)).toEqual([
        'AUTHORIZED',
        'COMPLETED',
        'FAILED',
      ]);
      expect(await gateway.getPayment(third.id)).toMatchObject({ paymentStatus: 'PENDING' });
    });

    it('a customer rejects in the app of the bank, and cancels on its page', async () => {
      const blik = await create({ paymentMethod: 'BLIK', currency: 'PLN' });
      await page.goto(blik.url);
      await page.getByLabel('BLIK code').fill('123456');
      await button('Pay 25.50 PLN').click();
      await button('Reject').click();
      await backInShop();
      const ideal = await create({ paymentMethod: 'IDEAL' });
      await page.goto(ideal.url);
      await button('Polderbank').click();
      expect(await page.title()).toBe('Approve 25.50 EUR · Polderbank');
      await button('Cancel payment').click();
      await backInShop();
      const message = { paymentStatus: 'FAILED', errorMessage: 'Canceled by the user' };
      expect(await callbacks()).toMatchObject([message, message]);
    });

    it('by keyboard alone a customer chooses a card, pays with it, and goes back', async () => {
      const { id, url } = await create({ paymentMethod: 'USER_CHOICE', amount: 540, currency: 'BRL' });
      await page.goto(url);
      const press = async (...keys: string[]) => {
        for (const key of keys) await page.keyboard.press(key);
      };
      await press('Tab', 'Tab', 'Enter');
      await page.waitForURL('**/*method=ONRAMP_CARD');
      // Another way, the test numbers, and then the fields in their order.
      await press('Tab', 'Tab', 'Tab');
      await page.keyboard.type('5555555555554444');
      await press('Tab');
      await page.keyboard.type('1248');
      await press('Tab');
      await page.keyboard.type('123');
      await press('Tab');
      await page.keyboard.type('Alex Example');
      expect(await page.getByLabel('Card number').inputValue()).toBe('5555 5555 5555 4444');
      expect(await page.getByLabel('Expiry date').inputValue()).toBe('12 / 48');
      await press('Tab', 'Enter');
      await backInShop();
      expect(await callbacks()).toMatchObject([
        { id, paymentMethod: 'ONRAMP_CARD', paymentStatus: 'COMPLETED', settled_crypto_amount: 99.49698745 },
      ]);
    });

    it('by keyboard alone a tester declines', async () => {
      const { url } = await create({ paymentMethod: 'MULTIBANCO' });
      await page.goto(url);
      await page.locator('summary').press('Enter');
      await page.getByLabel('Decline, because').press('ArrowDown');
      await button('Decline').press('Space');
      await backInShop();
      expect(await callbacks()).toMatchObject([{ errorMessage: 'CVV error' }]);
    });

    it('a card number is written as on the card, wherever the caret is', async () => {
      const { url } = await create();
      await page.goto(url);
      const number = page.getByLabel('Card number');
      await number.pressSequentially('378282246310005');
      expect(await number.inputValue()).toBe('3782 822463 10005');
      expect(await page.locator('.brands .is-known').textContent()).toBe('Amex');
      await number.fill('');
      await number.pressSequentially('42424242424242');
      await number.press('Home');
      await number.pressSequentially('42');
      expect(await number.inputValue()).toBe('4242 4242 4242 4242');
      expect(await number.evaluate((input: unknown) => (input as { selectionStart: number }).selectionStart)).toBe(2);
      await number.press('End');
      for (let count = 0; count < 4; count++) await number.press('Backspace');
      expect(await number.inputValue()).toBe('4242 4242 4242');
      await page.getByLabel('Expiry date').pressSequentially('848');
      expect(await page.getByLabel('Expiry date').inputValue()).toBe('08 / 48');
    });

    it('a BLIK code runs out on the page', async () => {
      const { url } = await create({ paymentMethod: 'BLIK', currency: 'PLN' });
      await page.clock.install();
      await page.goto(url);
      await page.getByText('The code is good for 2:00').waitFor();
      await page.clock.runFor(61_000);
      await page.getByText('The code is good for 0:59').waitFor();
      await page.clock.runFor(60_000);
      await expect.poll(() => page.getByRole('status').textContent()).toContain('The code has expired.');
    });

    it('details are copied as a bank takes them', async () => {
      await look({ permissions: ['clipboard-read', 'clipboard-write'] });
      const { id, url } = await create({ paymentMethod: 'MULTIBANCO', amount: 1249.5 });
      await page.goto(url);
      await button('Copy amount').click();
      await page.getByRole('status').getByText('Copied').waitFor({ state: 'attached' });
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe('1249.50');
      await button('Copy reference').click();
      await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toMatch(/^\d{9}$/);
      expect(await gateway.getPayment(id)).toMatchObject({ paymentStatus: 'PENDING' });
    });

    it('shows the outcome as soon as the payment changes elsewhere, and changes for no other payment', async () => {
      const { id, url } = await create();
      const other = await create();
      await page.goto(url);
      await page.getByLabel('Name on card').fill('Alex');
      const feed = page.waitForResponse(/\/live$/);
      await page.reload();
      await feed;
      await page.getByLabel('Name on card').fill('Alex');
      let pages = 0;
      page.on('request', request => {
        pages += Number(request.url() === url);
      });
      await sandbox.complete(other.id);
      await sandbox.authorize(id);
      await title('Payment approved').waitFor();
      expect(await page.title()).toBe('Payment approved: 25.50 EUR · Nordlicht Records');
      await page.getByRole('status').getByText('Payment approved').waitFor({ state: 'attached' });
      expect(await focused()).toBe('outcome');
      await sandbox.complete(id);
      await title('Payment complete').waitFor();
      await expect.poll(() => page.title()).toBe('Payment complete: 25.50 EUR · Nordlicht Records');
      // The first as the connection stood, then one for each move of its own.
      expect(pages).toBeLessThanOrEqual(3);
    });

    it('misses no change while it is hidden, and holds no connection then', async () => {
      const { id, url } = await create();
      const hide = (hidden: boolean) =>
        page.evaluate(
          `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`,
        );
      await page.goto(url);
      const closed = page.waitForEvent('requestfailed', request => request.url().endsWith('/live'));
      await hide(true);
      await closed;
      await sandbox.cancel(id);
      await hide(false);
      await expect.poll(() => page.title()).toBe('Payment canceled: 25.50 EUR · Nordlicht Records');
    });

    it('an app that is called leaves the page behind, which shows the outcome', async () => {
      const { url } = await create({ paymentMethod: 'PAYID', currency: 'AUD', returnUrl: 'myapp://paid' });
      await page.goto(url);
      await button("I've sent the transfer").click();
      await title('Payment complete').waitFor();
      expect(await link('Back to the shop').getAttribute('href')).toBe('myapp://paid');
      expect(strangers.splice(0)).toEqual(['myapp://paid']);
      complaints.splice(0); // Chromium has no such app here, and says so.
    });

    it('a return address that leads to no shop is text', async () => {
      const { url } = await create({ returnUrl: 'file:///etc/passwd', paymentMethod: 'MULTIBANCO' });
      await page.goto(url);
      await button("I've paid at a cash machine").click();
      await title('Payment complete').waitFor();
      await page.getByText('file:///etc/passwd').waitFor();
      expect(await page.getByRole('link', { name: /shop|passwd/ }).count()).toBe(0);
    });

    it('runs nothing that a merchant has sent', async () => {
      const attack = `"'><img src=x onerror="document.title='pwned'"><script>document.title='pwned'</script>`;
      for (const paymentMethod of ['CARD', 'IDEAL', 'USER_CHOICE', 'BLIK']) {
        const additionalParameters = { destination_wallet: attack };
        const request = { paymentMethod, reference: attack, description: attack, additionalParameters };
        const { id, url } = await create(request);
        for (const query of ['', '?bank=Polderbank', '?step=confirm', `?test=${encodeURIComponent(attack)}`]) {
          await page.goto(url + query);
          expect(await page.locator('img').count()).toBe(0);
        }
        await sandbox.fail(id, { reason: attack });
        await page.goto(url);
        expect(await page.title()).not.toBe('pwned');
        expect(await page.locator('img').count()).toBe(0);
      }
    });

    it('moves nothing for those who want no motion', async () => {
      await look({ reducedMotion: 'reduce' });
      const { id, url } = await create({ paymentMethod: 'BLIK', currency: 'PLN' });
      const moving = () => page.evaluate('document.getAnimations().length');
      for (const step of ['', '?step=confirm']) {
        await page.goto(url + step);
        expect(await moving()).toBe(0);
      }
      await sandbox.complete(id);
      await title('Payment complete').waitFor();
      expect(await moving()).toBe(0);
    });

    const LONG = { description: 'A long order of many things. '.repeat(11).slice(0, 300), reference: 'x'.repeat(120) };
    const STEPS: Record<string, string[]> = {
      APPLEPAY: ['?step=sheet'],
      GOOGLEPAY: ['?step=sheet'],
      BLIK: ['?step=confirm'],
      IDEAL: ['?bank=Polderbank', '?bank=Waterkant Bank', '?bank=Tulp Spaarbank'],
      P24: ['?bank=Bank Żubrowy', '?bank=Bank Latarnia'],
      BANCONTACT: ['?step=card'],
      USER_CHOICE: ['?method=ONRAMP_PIX', '?method=ONRAMP_CARD'],
    };

    describe.each([
      ['light', 1280],
      ['dark', 390],
    ] as const)(
      'in %s colours, axe finds nothing at a width of %d, and nothing scrolls sideways',
      (colorScheme, width) => {
        const check = async () => {
          await page.setViewportSize({ width, height: 900 });
          expect(await faultsOf(page)).toEqual([]);
          for (const narrow of [1280, 390, 320]) {
            await page.setViewportSize({ width: narrow, height: 900 });
            for (const dir of ['rtl', 'ltr']) {
              await page.evaluate(`document.documentElement.dir = '${dir}'`);
              expect([narrow, dir, await overflowOf(page)]).toEqual([narrow, dir, 0]);
            }
          }
        };

        it.each(Object.keys(WALKS))('on the pages of %s', async paymentMethod => {
          await look({ colorScheme, reducedMotion: 'reduce' });
          const { request } = WALKS[paymentMethod] as (typeof WALKS)[string];
          const { url } = await create({ paymentMethod, ...request, ...LONG });
          for (const step of ['', ...(STEPS[paymentMethod] ?? [])]) {
            await page.goto(url + step);
            await check();
          }
        });

        it('on a form with mistakes, of a shop, a currency and an amount without measure', async () => {
          await look({ colorScheme, reducedMotion: 'reduce' });
          const { url } = await create({ amount: 1_249_999_999.5, currency: 'A'.repeat(300), ...LONG });
          await page.goto(url);
          await button(/^Pay 1,249/).click();
          await page.getByText('Enter the card number.').waitFor();
          await page.evaluate(`document.querySelector('.shop b').textContent = 'Shop'.repeat(20)`);
          await check();
        });

        it.each(['fail', 'complete', 'authorize', 'cancel'] as const)('on the outcome of %s', async move => {
          await look({ colorScheme, reducedMotion: 'reduce' });
          const request = { paymentMethod: 'ONRAMP_PIX', currency: 'BRL', returnUrl: `file:///${'x'.repeat(200)}` };
          const { id, url } = await create({ ...request, ...LONG });
          await sandbox[move](id, move === 'fail' ? { reason: 'Reason'.repeat(40) } : {});
          await page.goto(url);
          await check();
        });
      },
    );
  },
);
