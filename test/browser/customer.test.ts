// The customer's pages in a real browser: each method is paid as a customer would, with and without the script.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { hasChromium } from '../support/browser.ts';
import { lacks } from '../support/skips.ts';
import { Walk } from './walk.ts';

/** The clicks of a customer: a field with its text, or the name of a button or link. */
type Clicks = readonly (readonly [field: string, text: string] | string)[];

const CARD: Clicks = [
  ['Card number', '4242 4242 4242 4242'],
  ['Expiry date', '12 / 48'],
  ['Security code', '123'],
  ['Name on card', 'Alex Example'],
  'Pay 25.50 EUR',
];

const IDENTITY: Clicks = [['Full name', 'Ada Any'], ['Date of birth', '1990-01-31'], 'Continue'];

const WALKS: Readonly<Record<string, readonly [request: object, clicks: Clicks]>> = {
  CARD: [{}, CARD],
  APPLEPAY: [{ billingAddress: { countryCode: 'DE' } }, ['Approve']],
  BLIK: [{ currency: 'PLN' }, [['BLIK code', '777123'], 'Pay 25.50 PLN', 'Approve']],
  IDEAL: [{}, ['Waterkant Bank', 'Approve']],
  BANCONTACT: [{}, [['Card number', '6703 4444 4444 4449'], ...CARD.slice(1, 2), ...CARD.slice(3)]],
  MULTIBANCO: [{}, ["I've paid"]],
  USER_CHOICE: [{ currency: 'BRL', amount: 540 }, ['Pix', ...IDENTITY, "I've paid"]],
};

describe.skipIf(lacks(hasChromium, "the customer's pages: no Chromium (Debian: apt-get install chromium)"))(
  'in Chromium',
  () => {
    const walk = new Walk();

    /** Opens the page of a new payment. */
    async function open(request: object = {}) {
      const { payment, nextAction } = await walk.create(request);
      const url = nextAction.type === 'redirect' ? nextAction.redirectUrl : '';
      await walk.page.goto(url);
      return { id: payment.id, url };
    }
    const press = (name: string) =>
      walk.page.getByRole('button', { name }).or(walk.page.getByRole('link', { name })).first().click();
    async function follow(clicks: Clicks) {
      for (const step of clicks) {
        if (typeof step === 'string') await press(step);
        else await walk.page.getByLabel(step[0]).fill(step[1]);
      }
    }
    const title = (name: string) => walk.page.getByRole('heading', { name, exact: true }).waitFor();
    const backInShop = () => walk.page.waitForURL(`${walk.shop.url}/thanks`);
    const callbacks = async () => {
      await walk.sandbox.idle();
      return walk.shop.posts.filter(({ url }) => url === '/callbacks').map(({ body }) => JSON.parse(body));
    };

    it.each([true, false])(
      'each kind of method is paid, and leads back to the shop (JavaScript: %s)',
      async javaScriptEnabled => {
        await walk.look({ javaScriptEnabled });
        const paid: object[] = [];
        for (const [paymentMethod, [request, clicks]] of Object.entries(WALKS)) {
          const { id, url } = await open({ paymentMethod, ...request });
          await follow(clicks);
          await backInShop();
          paid.push({ id, paymentStatus: 'COMPLETED', reference: 'order-1042' });
          await walk.page.goto(url);
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
        await walk.look({ javaScriptEnabled });
        await open();
        await follow(['Pay 25.50 EUR']);
        expect(await walk.page.getByLabel('Card number').evaluate(input => input.matches(':invalid'))).toBe(true);
        await follow([['Card number', '4539 5787 6362 1486'], ...CARD.slice(1)]);
        await walk.page.getByRole('alert').getByText('Test page: never type a real card.').waitFor();
        expect(await walk.focused()).toBe('number');
        expect(await walk.page.getByLabel('Card number').inputValue()).toBe('');
        await press('Use 4000 0000 0000 9995');
        await expect.poll(() => walk.page.getByLabel('Card number').inputValue()).toBe('4000 0000 0000 9995');
        await press('Pay 25.50 EUR');
        await backInShop();
        expect(await callbacks()).toMatchObject([{ paymentStatus: 'FAILED', errorMessage: 'Insufficient balance' }]);
      },
    );

    it('by keyboard alone a customer chooses a card, pays with it, and goes back', async () => {
      const { id } = await open({ paymentMethod: 'USER_CHOICE', amount: 540, currency: 'BRL' });
      const keys = async (...names: string[]) => {
        for (const name of names) await walk.page.keyboard.press(name);
      };
      await keys('Tab', 'Tab', 'Enter');
      await walk.page.waitForURL('**/*method=ONRAMP_CARD');
      // Another way, the name, and the date.
      await keys('Tab', 'Tab');
      await walk.page.keyboard.type('Ada Any');
      await keys('Tab');
      await walk.page.keyboard.type('01311990');
      await keys('Enter');
      await title('Card');
      // Another way, the test numbers, and then the fields in their order.
      await keys('Tab', 'Tab');
      for (const text of ['5555555555554444', '1248', '123', 'Alex Example']) {
        await keys('Tab');
        await walk.page.keyboard.type(text);
      }
      await keys('Tab', 'Enter');
      await backInShop();
      expect(await callbacks()).toMatchObject([
        { id, paymentMethod: 'ONRAMP_CARD', paymentStatus: 'COMPLETED', settled_crypto_amount: 99.49698745 },
      ]);
    });

    it('a second click on a button moves the payment once', async () => {
      await open({ paymentMethod: 'MULTIBANCO' });
      await walk.page.evaluate(
        `(button => { button.click(); button.click(); })(document.querySelector('.method .primary'))`,
      );
      await backInShop();
      expect(await callbacks()).toHaveLength(1);
    });

    it('details are copied as a bank takes them', async () => {
      await walk.look({ permissions: ['clipboard-read', 'clipboard-write'] });
      await open({ paymentMethod: 'MULTIBANCO', amount: 1249.5 });
      await press('Copy amount');
      await expect.poll(walk.news).toBe('Copied');
      expect(await walk.page.evaluate('navigator.clipboard.readText()')).toBe('1249.50');
      await press('Copy reference');
      await expect.poll(() => walk.page.evaluate('navigator.clipboard.readText()')).toMatch(/^[\dA-F]{8}$/);
    });

    it('shows the outcome as soon as the payment changes elsewhere, and keeps typed text until then', async () => {
      const feed = walk.page.waitForResponse(/\/live$/);
      const { id } = await open();
      const { payment: other } = await walk.gateway.createDeposit({
        paymentMethod: 'CARD',
        amount: 1,
        currency: 'EUR',
        webhookUrl: `${walk.shop.url}/callbacks`,
      });
      await feed;
      await walk.page.getByLabel('Name on card').fill('Alex');
      await walk.sandbox.complete(other.id);
      expect(await walk.page.getByLabel('Name on card').inputValue()).toBe('Alex');
      await walk.sandbox.authorize(id);
      await title('Payment approved');
      expect(await walk.page.title()).toBe('Payment approved: 25.50 EUR · Nordlicht Records');
      await expect.poll(walk.news).toBe('Payment approved: 25.50 EUR · Nordlicht Records');
      expect(await walk.focused()).toBe('outcome');
      await walk.sandbox.complete(id);
      await title('Payment complete');
    });

    it('shows an open page that its quote expires, and goes on with a new one', async () => {
      const feed = walk.page.waitForResponse(/\/live$/);
      await open({ paymentMethod: 'ONRAMP_PIX', currency: 'BRL', amount: 540 });
      await follow(IDENTITY);
      await title('Pix');
      await feed;
      walk.sandbox.clock.advance(120_000);
      await title('Your quote has expired');
      await press('Get a new quote');
      await press("I've paid");
      await backInShop();
      expect(await callbacks()).toMatchObject([{ paymentStatus: 'COMPLETED', settled_crypto_amount: 99.49698745 }]);
    });

    it('misses no change while it is hidden, and holds no connection then', async () => {
      const { id } = await open();
      const hide = (hidden: boolean) =>
        walk.page.evaluate(
          `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`,
        );
      const closed = walk.page.waitForEvent('requestfailed', request => request.url().endsWith('/live'));
      await hide(true);
      await closed;
      await walk.sandbox.cancel(id);
      await hide(false);
      await title('Payment canceled');
      expect(await walk.page.title()).toBe('Payment canceled: 25.50 EUR · Nordlicht Records');
    });

    it('a shop of another origin, which leads on to its other server, gets its customer back', async () => {
      const other = createServer((_, response) =>
        response.writeHead(302, { location: `${walk.shop.url}/thanks` }).end(),
      );
      await once(other.listen(0, '127.0.0.1'), 'listening');
      const returnUrl = `http://app.localhost:${(other.address() as AddressInfo).port}/return`;
      await open({ paymentMethod: 'PAYID', currency: 'AUD', returnUrl });
      await press("I've paid");
      await backInShop();
      expect(walk.strangers.splice(0)).toEqual([returnUrl]);
      other.close();
    });

    it('a form that was put into a page sends nothing to another origin', async () => {
      const { id } = await open();
      const evil = walk.shop.url.replace('127.0.0.1', 'evil.localhost');
      for (const path of [`/pay/${id}`, '/']) {
        await walk.page.goto(walk.url + path);
        const form = `<form method="post" action="${evil}/">`;
        await walk.page.evaluate(
          `document.body.insertAdjacentHTML('beforeend', '${form}'); document.querySelector('form:last-of-type[action^="http"]').submit()`,
        );
        await expect.poll(() => walk.complaints.splice(0).join()).toContain('form-action');
      }
      expect(walk.shop.posts).toEqual([]);
    });

    it('an app that is called leaves the page behind, which shows the outcome', async () => {
      await open({ paymentMethod: 'PAYID', currency: 'AUD', returnUrl: 'myapp://paid' });
      await press("I've paid");
      await title('Payment complete');
      expect(await walk.page.getByRole('link', { name: 'Back to the shop' }).getAttribute('href')).toBe('myapp://paid');
      expect(walk.strangers.splice(0)).toEqual(['myapp://paid']);
      walk.complaints.splice(0); // Chromium has no such app here, and says so.
    });
  },
);
