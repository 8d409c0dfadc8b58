// The answers of the handler, and its reading of a callback.
import { GatewayClient, parseWebhook } from 'payment-gateway-sdk';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { withParsedBody } from '../../src/webhooks/request-body.ts';
import { ID, KEYS } from '../support/fixtures.ts';
import { callback, completed, notFound, openShop, post } from './shop-callbacks.ts';

afterEach(() => void vi.useRealTimers());

const parsed = { body: JSON.parse(callback) };

describe('the answer', () => {
  it.each([
    ['announced in its length', () => post('{}', { 'content-length': '1001' })],
    ['found while reading', () => post(new Blob([callback.padEnd(1001)]).stream())],
  ])('is 413 to a body above maxBodyBytes, %s', async (_, request) => {
    const { reply, lookups, errors } = openShop({ maxBodyBytes: 1000 });
    expect(await reply(request())).toBe('413 too_large');
    expect(lookups).toEqual([]);
    expect(errors).toMatchObject([{ message: "The callback's body is larger than maxBodyBytes, 1000 bytes." }]);
    expect(await reply(post(callback.padEnd(1000), { 'content-length': '1000' }))).toBe('200 handled');
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
    const { reply, errors } = openShop({ gateway: new GatewayClient({ ...KEYS, fetch: () => new Promise(() => {}) }) });
    // A lookup ends after ten seconds. The second callback shares the second lookup.
    const [first, second] = [reply(post(callback)), reply(post(callback))];
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await first).toBe('503 failed');
    expect(errors).toMatchObject([{ name: 'ConnectionError', code: 'timeout', paymentId: ID }]);
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
  it.each([
    ['a status that is too long', { paymentStatus: 'x'.repeat(1_021) }],
    ['another amount, type and reference', { amount: '10,00', paymentType: null, reference: 'x' }],
    ['another method and customer', { paymentMethod: 'X', customer: 7 }],
    ['an id in capitals', { id: ID.toUpperCase() }],
  ])('changes nothing with %s: the record counts', async (_, claimed) => {
    const { reply, lookups, effects } = openShop();
    expect(await reply(post(JSON.stringify({ ...completed, ...claimed })))).toBe('200 handled');
    expect([lookups, effects]).toEqual([[ID], [completed]]);
  });
});

describe('a body that a framework has read', () => {
  it('is used unchanged, also if another copy of the SDK has marked it', async () => {
    expect(await openShop().reply(withParsedBody(post(null), parsed.body))).toBe('200 handled');
    const key = Symbol.for('payment-gateway-sdk.parsed-body');
    const marked = Object.defineProperty(post(null), key, { value: parsed });
    expect(await openShop().reply(marked)).toBe('200 handled');
  });

  it('is an error with `verify`, which names the fix and loses nothing', async () => {
    const { reply, errors, lookups } = openShop({ verify: () => true });
    expect(await reply(withParsedBody(post(null), parsed.body))).toBe('503 already_parsed');
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
