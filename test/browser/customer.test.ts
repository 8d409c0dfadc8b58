// The customer's pages in a real browser: each method is paid as a customer would, with and without the script.
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

const WALKS: Readonly<Record<string, readonly [request: object, clicks: Clicks]>> = {
  CARD: [{}, CARD],
  APPLEPAY: [{ billingAddress: { countryCode: 'DE' } }, ['Buy with Apple Pay', 'Pay with passcode']],
  BLIK: [{ currency: 'PLN' }, [['BLIK code', '777123'], 'Pay 25.50 PLN', 'Approve']],
  IDEAL: [{}, ['Waterkant Bank', 'Approve']],
  BANCONTACT: [{}, ['Card number', ['Card number', '6703 4444 4444 4449'], ...CARD.slice(1, 2), ...CARD.slice(3)]],
  MULTIBANCO: [{}, ["I've paid at a cash machine"]],
  USER_CHOICE: [{ currency: 'BRL', amount: 540 }, ['Pix', "I've paid in my app"]],
};
/** The steps of these have all kinds of forms. */
const PLAIN = ['CARD', 'BLIK', 'USER_CHOICE'];

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
          if (!javaScriptEnabled && !PLAIN.includes(paymentMethod)) continue;
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
        await follow([['Card number', '4539 5787 6362 1486'], ['Expiry date', '12 / 48'], 'Pay 25.50 EUR']);
        await walk.page.locator('#number-error').getByText('Test page: never type a real card.').waitFor();
        await walk.page.getByText('Enter the security code.').waitFor();
        expect(await walk.focused()).toBe('number');
        expect(await walk.page.getByLabel('Card number').inputValue()).toBe('');
        expect(await walk.page.getByLabel('Expiry date').inputValue()).toBe('12 / 48');
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
      // Another way, the test numbers, and then the fields in their order.
      await keys('Tab', 'Tab');
      for (const text of ['5555555555554444', '1248', '123', 'Alex Example']) {
        await keys('Tab');
        await walk.page.keyboard.type(text);
      }
      expect(await walk.page.getByLabel('Card number').inputValue()).toBe('5555 5555 5555 4444');
      await keys('Tab', 'Enter');
      await backInShop();
      expect(await callbacks()).toMatchObject([
        { id, paymentMethod: 'ONRAMP_CARD', paymentStatus: 'COMPLETED', settled_crypto_amount: 99.49698745 },
      ]);
    });

    it('a card number is written as on the card, wherever the caret is', async () => {
      await open();
      const number = walk.page.getByLabel('Card number');
      await number.pressSequentially('378282246310005');
      expect(await number.inputValue()).toBe('3782 822463 10005');
      expect(await walk.page.locator('.brands .is-known').textContent()).toBe('Amex');
      await number.fill('');
      await number.pressSequentially('42424242424242');
      await number.press('Home');
      await number.pressSequentially('42');
      expect(await number.inputValue()).toBe('4242 4242 4242 4242');
      expect(await number.evaluate((input: unknown) => (input as { selectionStart: number }).selectionStart)).toBe(2);
      await number.press('End');
      for (let count = 0; count < 4; count++) await number.press('Backspace');
      expect(await number.inputValue()).toBe('4242 4242 4242');
      await walk.page.getByLabel('Expiry date').pressSequentially('848');
      expect(await walk.page.getByLabel('Expiry date').inputValue()).toBe('08 / 48');
    });

    it('a button that was pressed shows that it is busy, and a second click sends nothing', async () => {
      await open({ paymentMethod: 'MULTIBANCO' });
      let posts = 0;
      walk.page.on('request', request => {
        posts += Number(request.method() === 'POST');
      });
      const clicks = `(button => { button.click(); button.click(); return button.ariaBusy; })(document.querySelector('.main'))`;
      expect(await walk.page.evaluate(clicks)).toBe('true');
      await backInShop();
      expect(posts).toBe(1);
    });

    it('a BLIK code runs out on the page', async () => {
      await walk.page.clock.install();
      await open({ paymentMethod: 'BLIK', currency: 'PLN' });
      await walk.page.getByText('The code is good for 2:00').waitFor();
      await walk.page.clock.runFor(61_000);
      await walk.page.getByText('The code is good for 0:59').waitFor();
      await walk.page.clock.runFor(60_000);
      await expect.poll(walk.news).toContain('The code has expired.');
    });

    it('details are copied as a bank takes them', async () => {
      await walk.look({ permissions: ['clipboard-read', 'clipboard-write'] });
      await open({ paymentMethod: 'MULTIBANCO', amount: 1249.5 });
      await press('Copy amount');
      await expect.poll(walk.news).toBe('Copied');
      expect(await walk.page.evaluate('navigator.clipboard.readText()')).toBe('1249.50');
      await press('Copy reference');
      await expect.poll(() => walk.page.evaluate('navigator.clipboard.readText()')).toMatch(/^\d{9}$/);
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
      await expect.poll(walk.news).toBe('Payment approved');
      expect(await walk.focused()).toBe('outcome');
      await walk.sandbox.complete(id);
      await title('Payment complete');
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

    it('an app that is called leaves the page behind, which shows the outcome', async () => {
      await open({ paymentMethod: 'PAYID', currency: 'AUD', returnUrl: 'myapp://paid' });
      await press("I've sent the transfer");
      await title('Payment complete');
      expect(await walk.page.getByRole('link', { name: 'Back to the shop' }).getAttribute('href')).toBe('myapp://paid');
      expect(walk.strangers.splice(0)).toEqual(['myapp://paid']);
      walk.complaints.splice(0); // Chromium has no such app here, and says so.
    });
  },
);
