// Lanes for callbacks: how many of each kind are processed at once.
import { randomUUID } from 'node:crypto';
import { GatewayClient, isGatewayError, type WebhookError } from 'payment-gateway-sdk';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LIMITS } from '../../src/webhooks/turns.ts';
import { expectDocumented } from '../support/documents.ts';
import { ID, KEYS } from '../support/fixtures.ts';
import { tableOf } from '../support/markdown.ts';
import { callback, completed, openShop, post, SIGNED, signing } from './shop-callbacks.ts';

afterEach(() => void vi.useRealTimers());

const unsigned = (id: string) => post(JSON.stringify({ id }));

/** A gateway that answers each lookup when the test says so, except for those of {@link ID}. */
function open() {
  const lookups: (() => void)[] = [];
  const gateway = signing(id =>
    id === ID ? Promise.resolve(completed) : new Promise(resolve => lookups.push(() => resolve({ ...completed, id }))),
  );
  const shop = openShop({ gateway });
  const flood = (count: number) => Promise.all(Array.from({ length: count }, () => shop.reply(unsigned(randomUUID()))));
  const answerAll = async (count: number) => {
    for (let answered = 0; answered < count; answered += 1) {
      await vi.waitFor(() => expect(lookups[answered]).toBeDefined(), 60_000);
      lookups[answered]?.();
    }
  };
  return { ...shop, lookups, flood, answerAll };
}

type Shop = ReturnType<typeof open>;

it.each([
  ['signed', (shop: Shop, id: string) => shop.reply(post(JSON.stringify({ id }), {}, SIGNED))],
  ['unsigned', (shop: Shop, id: string) => shop.reply(unsigned(id))],
  ['sweep', (shop: Shop, id: string) => shop.process(id)],
] as const)(
  'a limited number of callbacks of the lane %s is processed at once, and the others after them',
  async (lane, take) => {
    const shop = open();
    const taken = Promise.all(Array.from({ length: 40 }, () => take(shop, randomUUID())));
    await vi.waitFor(() => expect(shop.lookups).toHaveLength(LIMITS[lane]), 60_000);
    await new Promise(setImmediate);
    expect(shop.lookups).toHaveLength(LIMITS[lane]);
    await shop.answerAll(40);
    expect(await taken).toHaveLength(40);
  },
);

it('a sweep that ends before its turn looks nothing up later', async () => {
  const shop = open();
  const first = Array.from({ length: LIMITS.sweep }, () => shop.process(randomUUID()));
  await expect(shop.process(randomUUID(), { timeout: 100 })).rejects.toMatchObject({ code: 'timeout' });
  await shop.answerAll(LIMITS.sweep);
  await Promise.all(first);
  expect(shop.lookups).toHaveLength(LIMITS.sweep);
});

describe('in a flood of callbacks without a token', () => {
  it.each([
    ['a signed callback', (shop: Shop) => shop.reply(post(callback, {}, SIGNED)), '200 handled'],
    ['a sweep', async (shop: Shop) => (await shop.process(ID)).result, 'ran'],
  ])('%s is processed at once, also if a copy of it waits in the flood', async (_, take, expected) => {
    const shop = open();
    const flood = shop.flood(LIMITS.unsigned);
    await vi.waitFor(() => expect(shop.lookups).toHaveLength(LIMITS.unsigned), 60_000);
    const copy = shop.reply(post(callback));
    await new Promise(setImmediate);
    expect(await take(shop)).toBe(expected);
    await shop.answerAll(LIMITS.unsigned);
    expect([await copy, await flood]).toEqual(['200 handled before', Array(LIMITS.unsigned).fill('200 handled')]);
  });

  it('one that waits too long is answered 503 once within 25 s, without a lookup', async () => {
    vi.useFakeTimers();
    const shop = openShop({ gateway: new GatewayClient({ ...KEYS, fetch: () => new Promise(() => {}) }) });
    const hanging = Array.from({ length: 3 * LIMITS.unsigned }, () => shop.reply(unsigned(randomUUID())));
    await vi.advanceTimersByTimeAsync(5);
    const late = shop.reply(post(callback));
    // Each lookup is given up after ten seconds.
    await vi.advanceTimersByTimeAsync(40_000);
    expect([await late, new Set(await Promise.all(hanging))]).toEqual([
      '503 busy',
      new Set(['503 failed', '503 busy']),
    ]);
    const errors = shop.errors.filter(error => (error as WebhookError).paymentId === ID);
    expect(errors).toMatchObject([{ code: 'busy', message: expect.stringContaining('within 24000 ms') }]);
    expect([shop.errors.every(isGatewayError), shop.lookups.includes(ID)]).toEqual([true, false]);
  });
});

it('docs/callbacks.md has the limits', () => {
  const whose = {
    signed: 'a valid token in the address (`signCallbackUrls`)',
    unsigned: 'no valid token',
    sweep: 'none: `upkeep` processes the payment',
  };
  const rows = Object.entries(LIMITS).map(([name, limit]) => [
    `\`${name}\``,
    whose[name as keyof typeof whose],
    String(limit),
  ]);
  expectDocumented('callbacks.md', 'lanes', tableOf(['lane', 'callbacks with', 'processed concurrently'], rows));
});
