// The customer's pages in a real browser: each method is paid as a customer would, with and without the script.
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasChromium, openBrowser, strangersOf } from '../support/browser.ts';
import { openShop, type Shop } from '../support/shop.ts';
import { lacks } from '../support/skips.ts';

/** The clicks of a customer: a field with its text, or the name of a button or link. */
type Walk = readonly (readonly [field: string, text: string] | string)[];

const CARD: Walk = [
  ['Card number', '4242 4242 4242 4242'],
  ['Expiry date', '12 / 48'],
  ['Security code', '123'],
  ['Name on card', 'Alex Example'],
  'Pay 25.50 EUR',
];

const WALKS: Readonly<Record<string, readonly [request: object, walk: Walk]>> = {
  CARD: [{}, CARD],
  APPLEPAY: [{ billingAddress: { countryCode: 'DE' } }, ['Buy with Apple Pay', 'Pay with passcode']],
  BLIK: [{ currency: 'PLN' }, [['BLIK code', '777123'], 'Pay 25.50 PLN', 'Approve']],
  IDEAL: [{}, ['Waterkant Bank', 'Approve']],
  BANCONTACT: [{}, ['Card number', ['Card number', '6703 4444 4444 4449'], ...CARD.slice(1, 2), ...CARD.slice(3)]],
  MULTIBANCO: [{}, ["I've paid at a cash machine"]],
  USER_CHOICE: [{ currency: 'BRL', amount: 540 }, ['Pix', "I've paid in my app"]],
};

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
      expect([strangers, complaints]).toEqual([[], []]);
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
        // Chromium logs the status of a form with a mistake.
        if (message.type() === 'error' && !message.text().includes('422')) complaints.push(message.text());
      });
    }

    /** Opens the page of a new payment. */
    async function open(request: object = {}) {
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
      const url = nextAction.type === 'redirect' ? nextAction.redirectUrl : '';
      await page.goto(url);
      return { id: payment.id, url };
    }
    const press = (name: string) =>
      page.getByRole('button', { name }).or(page.getByRole('link', { name })).first().click();
    async function follow(walk: Walk) {
      for (const step of walk) {
        if (typeof step === 'string') await press(step);
        else await page.getByLabel(step[0]).fill(step[1]);
      }
    }
    const title = (name: string) => page.getByRole('heading', { name, exact: true }).waitFor();
    const backInShop = () => page.waitForURL(`${shop.url}/thanks`);
    const callbacks = async () => {
      await sandbox.idle();
      return shop.posts.filter(({ url }) => url === '/callbacks').map(({ body }) => JSON.parse(body));
    };
    const focused = () => page.evaluate('document.activeElement.id');
    const news = () => page.getByRole('status').textContent();

    it.each([true, false])(
      'each kind of method is paid, and leads back to the shop (JavaScript: %s)',
      async javaScriptEnabled => {
        await look({ javaScriptEnabled });
        const paid: object[] = [];
        for (const [paymentMethod, [request, walk]] of Object.entries(WALKS)) {
          const { id, url } = await open({ paymentMethod, ...request });
          await follow(walk);
          await backInShop();
          paid.push({ id, paymentStatus: 'COMPLETED', reference: 'order-1042' });
          await page.goto(url);
          await title('Payment complete');
          await press('Back to the shop');
          await backInShop();
        }
        expect(await callbacks()).toMatchObject(paid);
      },
    );

    it.each([true, false])(
      'a mistake is shown at its field, and a test number fills the form (JavaScript: %s)',
      async javaScriptEnabled => {
        await look({ javaScriptEnabled });
        await open();
        await follow(['Pay 25.50 EUR']);
        expect(await page.getByLabel('Card number').evaluate(input => input.matches(':invalid'))).toBe(true);
        await follow([['Card number', '4539 5787 6362 1486'], ...CARD.slice(1)]);
        await page.locator('#number-error').getByText('Test page: never type a real card.').waitFor();
        expect(await focused()).toBe('number');
        expect(await page.getByLabel('Card number').inputValue()).toBe('');
        await press('Use 4000 0000 0000 9995');
        await expect.poll(() => page.getByLabel('Card number').inputValue()).toBe('4000 0000 0000 9995');
        await press('Pay 25.50 EUR');
        await backInShop();
        expect(await callbacks()).toMatchObject([{ paymentStatus: 'FAILED', errorMessage: 'Insufficient balance' }]);
      },
    );

    it('the test controls end a payment in each way', async () => {
      const ends = [
        ['Decline: CVV error', { errorMessage: 'CVV error' }],
        ['Decline: canceled by the user', { errorMessage: 'Canceled by the user' }],
        ['Let it expire', { errorMessage: 'Payment not funded' }],
        ['Authorise first', { paymentStatus: 'AUTHORIZED' }],
      ] as const;
      for (const [name] of ends) {
        await open();
        await press(name);
        await backInShop();
      }
      await page.goBack();
      await press('Capture: the shop takes the money');
      await backInShop();
      await open({ paymentMethod: 'BLIK', currency: 'PLN' });
      await follow([['BLIK code', '123456'], 'Pay 25.50 PLN', 'Reject']);
      await backInShop();
      const { id } = await open();
      await press('Abandon: leave without paying');
      await backInShop();
      const canceled = { errorMessage: 'Canceled by the user' };
      expect(await callbacks()).toMatchObject([
        ...ends.map(([, end]) => end),
        { paymentStatus: 'COMPLETED' },
        canceled,
      ]);
      expect(await gateway.getPayment(id)).toMatchObject({ paymentStatus: 'PENDING' });
    });

    it('by keyboard alone a customer chooses a card, pays with it, and goes back', async () => {
      const { id } = await open({ paymentMethod: 'USER_CHOICE', amount: 540, currency: 'BRL' });
      const keys = async (...names: string[]) => {
        for (const name of names) await page.keyboard.press(name);
      };
      await keys('Tab', 'Tab', 'Enter');
      await page.waitForURL('**/*method=ONRAMP_CARD');
      // Another way, the test numbers, and then the fields in their order.
      await keys('Tab', 'Tab');
      for (const text of ['5555555555554444', '1248', '123', 'Alex Example']) {
        await keys('Tab');
        await page.keyboard.type(text);
      }
      await keys('Tab', 'Enter');
      await backInShop();
      expect(await callbacks()).toMatchObject([
        { id, paymentMethod: 'ONRAMP_CARD', paymentStatus: 'COMPLETED', settled_crypto_amount: 99.49698745 },
      ]);
    });

    it('a second click on a button moves the payment once', async () => {
      await open({ paymentMethod: 'MULTIBANCO' });
      await page.evaluate(`(button => { button.click(); button.click(); })(document.querySelector('.main'))`);
      await backInShop();
      expect(await callbacks()).toHaveLength(1);
    });

    it('details are copied as a bank takes them', async () => {
      await look({ permissions: ['clipboard-read', 'clipboard-write'] });
      await open({ paymentMethod: 'MULTIBANCO', amount: 1249.5 });
      await press('Copy amount');
      await expect.poll(news).toBe('Copied');
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe('1249.50');
      await press('Copy reference');
      await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toMatch(/^\d{9}$/);
    });

    it('shows the outcome as soon as the payment changes elsewhere, and keeps typed text until then', async () => {
      const feed = page.waitForResponse(/\/live$/);
      const { id } = await open();
      const { payment: other } = await gateway.createDeposit({
        paymentMethod: 'CARD',
        amount: 1,
        currency: 'EUR',
        webhookUrl: `${shop.url}/callbacks`,
      });
      await feed;
      await page.getByLabel('Name on card').fill('Alex');
      await sandbox.complete(other.id);
      expect(await page.getByLabel('Name on card').inputValue()).toBe('Alex');
      await sandbox.authorize(id);
      await title('Payment approved');
      expect(await page.title()).toBe('Payment approved: 25.50 EUR · Nordlicht Records');
      await expect.poll(news).toBe('Payment approved');
      expect(await focused()).toBe('outcome');
      await sandbox.complete(id);
      await title('Payment complete');
    });

    it('misses no change while it is hidden, and holds no connection then', async () => {
      const { id } = await open();
      const hide = (hidden: boolean) =>
        page.evaluate(
          `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`,
        );
      const closed = page.waitForEvent('requestfailed', request => request.url().endsWith('/live'));
      await hide(true);
      await closed;
      await sandbox.cancel(id);
      await hide(false);
      await title('Payment canceled');
      expect(await page.title()).toBe('Payment canceled: 25.50 EUR · Nordlicht Records');
    });

    it('an app that is called leaves the page behind, which shows the outcome', async () => {
      await open({ paymentMethod: 'PAYID', currency: 'AUD', returnUrl: 'myapp://paid' });
      await press("I've sent the transfer");
      await title('Payment complete');
      expect(await page.getByRole('link', { name: 'Back to the shop' }).getAttribute('href')).toBe('myapp://paid');
      expect(strangers.splice(0)).toEqual(['myapp://paid']);
      complaints.splice(0); // Chromium has no such app here, and says so.
    });
  },
);
