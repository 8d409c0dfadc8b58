// The answers of the handler, and its reading of a callback.
import { type Payment, parseWebhook } from 'payment-gateway-sdk';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { withParsedBody } from '../../src/webhooks/request-body.ts';
import { ID } from '../support/fixtures.ts';
import { whileTimePasses } from '../support/passing-time.ts';
import { as, callback, completed, notFound, openShop, post, warningsOf } from './shop-callbacks.ts';

afterEach(() => void vi.useRealTimers());

const parsed = { body: JSON.parse(callback) };

describe('the answer', () => {
  it.each([
    ['announced in its length', () => post('{}', { 'content-length': '1001' })],
    ['also if a framework has parsed it', () => withParsedBody(post(null, { 'content-length': '1001' }), parsed)],
    ['found while reading', () => post(new Blob([callback.padEnd(1001)]).stream())],
  ])('is 413 to a body above maxBodyBytes, %s', async (_, request) => {
    const { reply, lookups, errors } = openShop({ maxBodyBytes: 1000 });
    expect(await reply(request())).toBe('413 too_large');
    expect(lookups).toEqual([]);
    expect(errors).toMatchObject([{ message: "The callback's body is larger than maxBodyBytes, 1000 bytes." }]);
    expect(await reply(post(callback.padEnd(1000), { 'content-length': '1000' }))).toBe('200 handled');
    expect(await reply(withParsedBody(post(null, { 'content-length': '1000' }), parsed))).toBe('200 handled before');
  });

  it('is 503 with Retry-After if the lookup fails, and the callback is taken later', async () => {
    let isDown = true;
    const { handler, reply, effects, errors } = openShop({}, async () => {
      if (isDown) throw new Error('gateway down');
      return completed;
    });
    const response = await handler(post(callback));
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '10']);
    expect([effects, errors]).toEqual([[], [new Error('gateway down')]]);
    isDown = false;
    expect(await reply(post(callback))).toBe('200 handled');
  });

  it.each<[string, () => unknown]>([
    ['throws', () => parseWebhook('{"result":{}}')],
    ['rejects with no error', () => Promise.reject('no')],
    ['looks up another payment that does not exist', () => notFound()],
    [
      'throws an error with a code of the SDK',
      () => Promise.reject(Object.assign(new Error('mail'), { code: 'busy' })),
    ],
    ['throws an object that throws when it is read', () => Promise.reject(revoked())],
  ])('is 503 failed if onPayment %s, and onPayment runs again', async (_, fail) => {
    let isDown = true;
    const { reply, errors, events } = openShop({ onPayment: () => (isDown ? fail() : undefined) });
    expect(await reply(post(callback))).toBe('503 failed');
    expect(errors).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: 'callback', result: 'failed', code: 'failed' });
    isDown = false;
    expect(await reply(post(callback))).toBe('200 handled');
  });

  it('comes after ten seconds for a lookup that hangs', async () => {
    vi.useFakeTimers();
    const signals: (AbortSignal | undefined)[] = [];
    const { reply, errors } = openShop({
      gateway: {
        getPayment: (_, options) => {
          signals.push(options?.signal);
          return new Promise(() => {});
        },
      },
    });
    // A lookup ends after ten seconds. The second callback shares the second lookup.
    const [first, second] = [reply(post(callback)), reply(post(callback))];
    await vi.advanceTimersByTimeAsync(10_000);
    expect([await first, signals[0]?.aborted]).toEqual(['503 failed', true]);
    const message = `The lookup of payment ${ID} took more than 10000 ms.`;
    expect(errors).toMatchObject([{ name: 'ConnectionError', code: 'timeout', message }]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await second).toBe('503 failed');
  });
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe("a callback's claim", () => {
  it.each<[string, object, object?]>([
    ['amount', { amount: 2550 }],
    ['currency', { currency: 'eur' }],
    ['reference', { reference: 'order-2' }],
    ['reference', { reference: 'x'.repeat(1_020) }],
    ['reference', { reference: '1.0' }, { reference: '1' }],
    ['paymentType', { paymentType: 'WITHDRAWAL' }],
  ])(
    'that differs from the record in %s causes a warning, and the record counts',
    async (field, changes, shown = {}) => {
      const record = { ...completed, ...shown } as Payment;
      const { reply, effects, events } = openShop({}, async () => record);
      expect(await reply(post(JSON.stringify({ ...completed, ...changes })))).toBe('200 handled');
      expect(effects).toEqual([record]);
      const [warning] = warningsOf(events);
      expect(warning).toMatchObject({ operation: 'callback', paymentId: ID, code: 'callback_mismatch' });
      expect(warning).toHaveProperty('message', expect.stringMatching(new RegExp(`: ${field}\\.$`)));
    },
  );

  it('causes one warning for all differences and all lookups', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { reply, events, lookups } = openShop({}, async () => as(lookups.length < 3 ? 'PENDING' : 'COMPLETED'));
    const body = JSON.stringify({ ...completed, amount: 7, currency: 'eur' });
    expect(await whileTimePasses(reply(post(body)), 250)).toBe('200 handled');
    expect(lookups).toHaveLength(3);
    const message = `A callback of payment ${ID} differs from the gateway's record, which counts: amount, currency.`;
    expect(warningsOf(events)).toMatchObject([{ message }]);
  });

  it.each([
    ['texts that are too long', { reference: 'x'.repeat(1_021), paymentStatus: 'x'.repeat(1_021) }, {}],
    ['an empty reference', { reference: '' }, { reference: null }],
    ['a long reference', { reference: 'x'.repeat(300) }, { reference: 'x'.repeat(300) }],
    ['an amount of the same value', { amount: '25.50' }, {}],
    ['an unreadable amount', { amount: '10,00' }, {}],
    ['nulls', { amount: null, currency: null, paymentType: null, reference: null }, {}],
    ['another method and customer', { paymentMethod: 'X', customer: 7 }, {}],
    ['an id in capitals', { id: ID.toUpperCase() }, {}],
  ])('causes no warning for %s', async (_, claimed, recorded) => {
    const { reply, lookups, events } = openShop({}, async () => ({ ...completed, ...recorded }) as Payment);
    expect(await reply(post(JSON.stringify({ ...completed, ...claimed })))).toBe('200 handled');
    expect([lookups, warningsOf(events)]).toEqual([[ID], []]);
  });
});

describe('a body that a framework has read', () => {
  it('is used unchanged, also if another copy of the SDK has marked it', async () => {
    expect(await openShop().reply(withParsedBody(post(null), parsed))).toBe('200 handled');
    const key = Symbol.for('payment-gateway-sdk.parsed-body');
    const marked = Object.defineProperty(post(null), key, { value: parsed });
    expect(await openShop().reply(marked)).toBe('200 handled');
  });

  it('is an error with `verify`, which names the fix and loses nothing', async () => {
    const { reply, errors, lookups } = openShop({ verify: () => true });
    expect(await reply(withParsedBody(post(null), parsed))).toBe('503 already_parsed');
    expect(errors).toMatchObject([{ code: 'already_parsed', message: expect.stringContaining('express.raw') }]);
    expect(lookups).toEqual([]);
  });

  it('is an error if nothing of it is left', async () => {
    const { reply, errors } = openShop();
    const request = post(callback);
    await request.text();
    expect(await reply(request)).toBe('503 already_parsed');
    expect(errors).toMatchObject([{ code: 'already_parsed', message: expect.stringContaining('request.clone()') }]);
  });
});

describe('verify', () => {
  it('gets the exact bytes and the headers before any lookup', async () => {
    const seen: [string, string | null][] = [];
    const { reply, lookups, errors } = openShop({
      verify: (request, rawBody) => {
        seen.push([Buffer.from(rawBody).toString(), request.headers.get('x-signature')]);
        return request.headers.get('x-signature') === 'right';
      },
    });
    expect(await reply(post(callback, { 'x-signature': 'wrong' }))).toBe('401 refused');
    expect(lookups).toEqual([]);
    expect(errors).toMatchObject([{ code: 'refused', message: 'Your `verify` refused a callback.' }]);
    expect(await reply(post(callback, { 'x-signature': 'right' }))).toBe('200 handled');
    expect(seen).toEqual([
      [callback, 'wrong'],
      [callback, 'right'],
    ]);
  });

  it.each([new Error('no keys'), undefined])('does not refuse the callback if it fails with %s', async error => {
    const { reply, errors } = openShop({ verify: () => Promise.reject(error) });
    expect(await reply(post(callback))).toBe('503 failed');
    expect(errors).toEqual([error]);
  });
});
