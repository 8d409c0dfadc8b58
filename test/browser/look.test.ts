// One walk over every page: axe finds nothing, and nothing scrolls sideways, in each colour, width and direction.
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsOf, overflowOf } from '../support/axe.ts';
import { hasChromium, openBrowser } from '../support/browser.ts';
import { lacks } from '../support/skips.ts';

const ATTACK = `"'><img src=x onerror="document.title='pwned'"><script>document.title='pwned'</script>`;
const LONG = `${'x'.repeat(200)} ${ATTACK}`;

describe.skipIf(lacks(hasChromium, 'the look of the pages: no Chromium (Debian: apt-get install chromium)'))(
  'every page in Chromium',
  () => {
    let browser: Browser;
    const servers: { url: string; close(): Promise<void> }[] = [];
    const urls: string[] = [];

    beforeAll(async () => {
      browser = await openBrowser();
      const sandbox = new Sandbox({
        terminal: 'onramp',
        payid: 'redirect',
        shopName: 'Shop'.repeat(20),
        fetch: async () => new Response(LONG),
      });
      const server = await sandbox.listen();
      const empty = await new Sandbox().listen();
      servers.push(server, empty);
      const gateway = new GatewayClient({ ...sandbox.clientOptions, baseUrl: server.url, fetch: undefined });
      const create = async (request: object) => {
        const all = { paymentType: 'DEPOSIT', amount: '25.50', currency: 'EUR', reference: LONG, description: LONG };
        const address = { webhookUrl: 'https://shop.example/callbacks', returnUrl: `file:///${'x'.repeat(200)}` };
        return (await gateway.createPayment({ ...all, ...address, ...request } as never)).payment.id;
      };
      const add = (...paths: string[]) => urls.push(...paths.map(path => server.url + path));
      const card = await create({ paymentMethod: 'CARD', amount: 1_249_999_999.5, currency: 'A'.repeat(300) });
      const apple = await create({ paymentMethod: 'APPLEPAY', billingAddress: { countryCode: 'DE' } });
      const blik = await create({ paymentMethod: 'BLIK', currency: 'PLN' });
      const ideal = await create({ paymentMethod: 'IDEAL' });
      const choice = await create({
        paymentMethod: 'USER_CHOICE',
        currency: 'BRL',
        additionalParameters: { destination_wallet: LONG },
      });
      add(`/pay/${card}`, `/pay/${apple}`);
      add(`/pay/${blik}`, `/pay/${blik}?step=confirm`, `/pay/${ideal}?bank=Waterkant+Bank`);
      add(
        `/pay/${await create({ paymentMethod: 'BANCONTACT' })}`,
        `/pay/${choice}`,
        `/pay/${choice}?method=ONRAMP_PIX`,
      );
      add(`/pay/${await create({ paymentMethod: 'MULTIBANCO' })}`);
      for (const move of ['complete', 'fail'] as const) {
        const id = await create({ paymentMethod: 'ONRAMP_PIX', currency: 'BRL' });
        await sandbox[move](id, move === 'fail' ? { reason: LONG } : {});
        add(`/pay/${id}`);
      }
      const identified = async () => {
        const path = `/pay/${await create({ paymentMethod: 'ONRAMP_PIX', currency: 'BRL' })}`;
        await fetch(server.url + path, { method: 'POST', body: new URLSearchParams({ act: 'quote' }) });
        add(path);
      };
      await identified(); // Its quote expires below.
      await create({ paymentType: 'WITHDRAWAL', paymentMethod: 'SEPA' });
      await sandbox.authorize(card);
      await sandbox.idle();
      sandbox.clock.advance(90_061_000);
      await identified();
      sandbox.faults.next('callback-delay', { ms: 3_600_000 });
      await sandbox.fail(card, { reason: LONG });
      sandbox.faults.next('callback-lose');
      await sandbox.complete(card, { force: true });
      sandbox.faults.next('slow', { reference: LONG, count: 3, probability: 0.5 });
      sandbox.faults.next('callback-lose');
      const long = 'x'.repeat(300);
      const headers = { authorization: `Bearer ${long}`, signature: ATTACK, [long]: long };
      await fetch(`${server.url}/api/v1/payments?${long}`, { method: 'POST', headers, body: LONG });
      add('/', `/payments/${card}`, '/activity', `/calls/${sandbox.calls.at(-1)?.id}`);
      add(
        '/deliveries/1',
        '/faults',
        '/nowhere',
        `/create?${new URLSearchParams({ paymentType: LONG, reference: LONG })}`,
      );
      urls.push(empty.url);
    });
    afterAll(async () => {
      await browser.close();
      for (const server of servers) await server.close();
    });

    it('has no axe violation, and does not scroll sideways', async () => {
      const page = await browser.newPage({ reducedMotion: 'reduce' });
      const complaints: string[] = [];
      page.on('pageerror', error => complaints.push(error.message));
      page.on('console', message => message.type() === 'error' && complaints.push(message.text()));
      for (const url of urls) {
        const set = async (colorScheme: 'light' | 'dark', width: number, dir: string) => {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 900 });
          await page.evaluate(`document.documentElement.dir = '${dir}'`);
        };
        await page.goto(url);
        const hue = `hue-${(urls.indexOf(url) % 5) + 1}`;
        await page.evaluate(`document.querySelector('.summary')?.setAttribute('class', 'summary ${hue}')`);
        await set('light', 1280, 'ltr');
        expect([url, await faultsOf(page)]).toEqual([url, []]);
        await set('dark', 390, 'rtl');
        expect([url, 'dark', await faultsOf(page, ['color-contrast'])]).toEqual([url, 'dark', []]);
        for (const dir of ['ltr', 'rtl']) {
          await set('light', 320, dir);
          expect([url, dir, await overflowOf(page)]).toEqual([url, dir, 0]);
        }
        // What a merchant sent runs nowhere, and nothing moves for those who want no motion.
        const seen = `[document.title === 'pwned' || document.images.length > 0, document.getAnimations().length]`;
        expect([url, await page.evaluate(seen)]).toEqual([url, [false, 0]]);
      }
      expect(complaints.filter(text => !text.includes('404'))).toEqual([]);
    });
  },
);
