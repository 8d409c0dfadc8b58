// Whatever anybody passes, posts or answers: what is asked for is the payments' own address, or that of one payment.
// @module-tag long
import fc from 'fast-check';
import { createWebhookHandler, GatewayClient, memoryStore, type Payment } from 'payment-gateway-sdk';
import { expect, it } from 'vitest';
import type { FetchInit } from '../../src/http/own-fetch.ts';
import { HANDLER } from '../../src/upkeep/handler-link.ts';
import { CLIENT } from '../../src/webhooks/client-link.ts';
import { errorOf, KEYS, PAYOUT } from '../support/fixtures.ts';
import { json } from '../support/wire.ts';
import { post } from '../webhooks/shop-callbacks.ts';
import { httpUrl, text, tries, uuid, word } from './arbitraries.ts';

/** As the gateway's document has them. */
const PATH = /^https:\/\/gateway\.example\/api\/v1\/payments(\/[\da-fA-F]{8}(-[\da-fA-F]{4}){3}-[\da-fA-F]{12})?$/;

/** What could get out of a path, or split a request. */
const POISON = ['\\', '\n', '\r\nHost: x', '\0', ' ', '\u2028'];

const poison = fc.oneof(fc.constantFrom(...POISON), word('/ .. /../ %2e%2e%2f ? # @ : //evil.example/ － ٠'));
const anyId: fc.Arbitrary<string> = fc.oneof(
  uuid,
  // A UUID with something in it, before it or after it, or in place of a character of it.
  fc.tuple(uuid, poison, fc.nat(36)).map(([id, part, at]) => id.slice(0, at) + part + id.slice(at)),
  fc.tuple(uuid, poison, fc.nat(36)).map(([id, part, at]) => id.slice(0, at) + part + id.slice(at + 1)),
  fc.tuple(uuid, fc.nat(36)).map(([id, length]) => id.slice(0, length)),
  fc.tuple(uuid, uuid).map(ids => ids.join('/')),
  httpUrl,
  text,
  poison,
);

/** A value that is no string, and pretends to be one. */
const pretender = anyId.map(id => ({ toString: () => id, toLowerCase: () => id, length: 36 }) as unknown as string);

it('no string reaches a URL path but a UUID', async () => {
  let answers: string[] = [];
  const urls = new Set<string>();
  const fetch = async (url: string, { method }: FetchInit) => {
    urls.add(url);
    // Also what the gateway itself answers may name anything as an id.
    const [id] = answers;
    if (method === 'POST') return json(JSON.stringify({ error: { id, payment_id: id }, id }), 422);
    return json(JSON.stringify({ id, paymentStatus: 'PENDING', paymentType: 'DEPOSIT', amount: 1, currency: 'EUR' }));
  };
  const looked = { uuid: 0, no: 0 };

  await fc.assert(
    fc.asyncProperty(fc.oneof(uuid, anyId, anyId, pretender), anyId, async (id, answered) => {
      answers = [answered];
      const options = { ...KEYS, fetch, retries: 0 };
      const gateway = new GatewayClient({ ...options, store: memoryStore({ scope: 'paths', settleMargin: 0 }) });
      const handler = createWebhookHandler({
        gateway: new GatewayClient(options),
        onPayment: () => {},
        onError: () => {},
      });
      urls.clear();
      const body = { id, paymentStatus: 'PENDING' };
      await Promise.all(
        [
          () => gateway.getPayment(id),
          () => gateway.waitForPayment(id, { until: () => true }),
          () => gateway.settle('payout-1', id),
          () => gateway[CLIENT].reconcile({ ...body, reference: 'payout-1' } as unknown as Payment),
          () => handler[HANDLER].process(id, { timeout: 1_000 }),
          () => handler(post(JSON.stringify(body))),
          () => gateway.createWithdrawal({ ...PAYOUT, reference: `of ${String(id)}` }),
        ].map(async call => errorOf((async () => call())()).catch(() => {})),
      );
      const wrong = [...urls].filter(url => !PATH.test(url) || new URL(url).href !== url);
      expect(wrong).toEqual([]);
      const isUuid = [...urls].some(url => url.endsWith(id));
      looked[isUuid ? 'uuid' : 'no'] += 1;
      // And a UUID is looked up as it was given.
      if (typeof id === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id)) expect(isUuid).toBe(true);
    }),
    tries(24),
  );
  expect(Math.min(looked.uuid, looked.no)).toBeGreaterThan(5);
});
