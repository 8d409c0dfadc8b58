// The pictures of docs/sandbox.md. Mend: UPDATE_DOCS=1 npx vitest run test/browser/pictures.test.ts
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { hasChromium } from '../support/browser.ts';
import { lacks } from '../support/skips.ts';
import { Walk } from './walk.ts';

const IMAGES = new URL('../../docs/images/', import.meta.url);

describe.skipIf(lacks(hasChromium, 'the pictures of the sandbox: no Chromium (Debian: apt-get install chromium)'))(
  'the pictures of the documents',
  () => {
    /** How the shop answers the next callbacks. */
    let statuses: number[];
    const walk = new Walk({
      seed: 'pictures',
      now: () => Date.UTC(2026, 10, 22, 9, 41),
      callbackRetries: [60_000],
      fetch: async () => new Response('thanks', { status: statuses.shift() ?? 200 }),
    });
    let id: string;

    beforeEach(async () => {
      statuses = [503, 200];
      await walk.look({ viewport: { width: 1180, height: 760 }, colorScheme: 'light' });
      const shop = 'http://127.0.0.1:3000';
      const addresses = { webhookUrl: `${shop}/callbacks`, returnUrl: `${shop}/thanks` };
      const { payment } = await walk.create({
        amount: '64.90',
        description: 'Vinyl: Fjordlys, two copies',
        ...addresses,
      });
      id = payment.id;
    });

    /** What the reader sees of it, and nothing that is not there. */
    async function picture(name: string, path: string, words: string[]): Promise<void> {
      await walk.page.goto(walk.url + path);
      const text = await walk.page.locator('body').innerText();
      for (const word of words) expect(text).toContain(word);
      const image = await walk.page.screenshot({ animations: 'disabled' });
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
      walk.sandbox.faults.next('callback-delay', { ms: 30_000 });
      await walk.sandbox.complete(id);
      walk.sandbox.clock.advance(30_000);
      await expect.poll(() => walk.sandbox.deliveries[0]?.status).toBe(503);
      await expect.poll(() => walk.sandbox.timeline(id).filter(({ type }) => type === 'callback-waits').length).toBe(2);
      walk.sandbox.clock.advance(60_000);
      await walk.sandbox.idle();
      await picture('payment', `/payments/${id}`, ['order-1042', 'Timeline', '503', 'COMPLETED']);
    });

    it('call: a body that was signed in another serialisation', async () => {
      const body = { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: 25.5, currency: 'EUR' };
      // `printf '{"paymentType":"DEPOSIT","paymentMethod":"CARD","amount":25.5,"currency":"EUR"}' |
      //  openssl dgst -sha256 -hmac sandbox-sign-key`
      const signature = 'ee5b2fc990b3b718781611809ed7366370abc73522129ab8b90950f57ad7fe01';
      await fetch(`${walk.url}/api/v1/payments`, {
        method: 'POST',
        headers: { authorization: 'Bearer sandbox-api-key', signature, 'content-type': 'application/json' },
        body: JSON.stringify(body, null, 2),
      });
      await picture('call', `/calls/${walk.sandbox.calls.at(-1)?.id}`, [
        '401',
        'serialised in another way',
        'Correct it',
      ]);
    });
  },
);
