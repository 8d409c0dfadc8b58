// The pictures of docs/sandbox.md. Mend: UPDATE_DOCS=1 npx vitest run test/browser/pictures.test.ts
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasChromium, openBrowser } from '../support/browser.ts';
import { lacks } from '../support/skips.ts';

const IMAGES = new URL('../../docs/images/', import.meta.url);

describe.skipIf(lacks(hasChromium, 'the pictures of the sandbox: no Chromium (Debian: apt-get install chromium)'))(
  'the pictures of the documents',
  () => {
    let browser: Browser;
    let page: Page;
    let server: { url: string; close(): Promise<void> };
    let id: string;
    /** How the shop answers the next callbacks. */
    const statuses: number[] = [];
    const sandbox = new Sandbox({
      seed: 'pictures',
      shopName: 'Nordlicht Records',
      now: () => Date.UTC(2026, 10, 22, 9, 41),
      callbackRetries: [60_000],
      fetch: async () => new Response('thanks', { status: statuses.shift() ?? 200 }),
    });

    beforeAll(async () => {
      browser = await openBrowser();
      page = await browser.newPage({ viewport: { width: 1180, height: 760 }, colorScheme: 'light' });
      server = await sandbox.listen();
    });
    beforeEach(async () => {
      statuses.splice(0, statuses.length, 503, 200);
      sandbox.reset();
      const gateway = new GatewayClient({ ...sandbox.clientOptions, baseUrl: server.url, fetch: undefined });
      const { payment } = await gateway.createDeposit({
        paymentMethod: 'CARD',
        amount: '64.90',
        currency: 'EUR',
        reference: 'order-1042',
        description: 'Vinyl: Fjordlys, two copies',
        webhookUrl: 'http://127.0.0.1:3000/callbacks',
        returnUrl: 'http://127.0.0.1:3000/thanks',
      });
      id = payment.id;
    });
    afterAll(async () => {
      await browser.close();
      await server.close();
    });

    /** What the reader sees of it, and nothing that is not there. */
    async function picture(name: string, path: string, words: string[]): Promise<void> {
      await page.goto(server.url + path);
      const text = await page.locator('body').innerText();
      for (const word of words) expect(text).toContain(word);
      const image = await page.screenshot({ animations: 'disabled' });
      const file = new URL(`${name}.png`, IMAGES);
      if (process.env.UPDATE_DOCS) {
        mkdirSync(IMAGES, { recursive: true });
        writeFileSync(file, image);
      }
      expect(existsSync(file)).toBe(true);
    }

    it('card: the shop and the amount, the card, and the test controls next to them', async () => {
      await picture('card', `/pay/${id}`, ['Nordlicht Records', '64.90 EUR', 'Card number', 'Test controls']);
    });

    it('payment: a callback that was delayed, refused and repeated', async () => {
      sandbox.faults.next('callback-delay', { ms: 30_000 });
      await sandbox.complete(id);
      sandbox.clock.advance(30_000);
      await expect.poll(() => sandbox.deliveries[0]?.status).toBe(503);
      await expect.poll(() => sandbox.timeline(id).filter(({ type }) => type === 'callback-waits').length).toBe(2);
      sandbox.clock.advance(60_000);
      await sandbox.idle();
      await picture('payment', `/payments/${id}`, ['order-1042', 'Timeline', '503', 'COMPLETED']);
    });

    it('call: a body that was signed in another serialisation', async () => {
      const body = { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: 25.5, currency: 'EUR' };
      // `printf '{"paymentType":"DEPOSIT","paymentMethod":"CARD","amount":25.5,"currency":"EUR"}' |
      //  openssl dgst -sha256 -hmac sandbox-sign-key`
      const signature = 'ee5b2fc990b3b718781611809ed7366370abc73522129ab8b90950f57ad7fe01';
      await fetch(`${server.url}/api/v1/payments`, {
        method: 'POST',
        headers: { authorization: 'Bearer sandbox-api-key', signature, 'content-type': 'application/json' },
        body: JSON.stringify(body, null, 2),
      });
      await picture('call', `/calls/${sandbox.calls.at(-1)?.id}`, ['401', 'serialised in another way', 'As curl']);
    });
  },
);
