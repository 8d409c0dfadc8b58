// The events of each callback, and the warnings without a listener.

import { inspect } from 'node:util';
import { ConnectionError, GatewayClient, memoryStore, type WebhookHandlerOptions } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CARD, ID, throwing } from '../support/fixtures.ts';
import { whileTimePasses } from '../support/passing-time.ts';
import { callback, completed, linked, openShop, post, storeWith } from './shop-callbacks.ts';

const durationMs = expect.any(Number);
const callId = expect.stringMatching(/^[\da-f-]{36}$/);
const step = { callId, operation: 'callback', type: 'callback', paymentId: ID, lane: 'unsigned', durationMs };
const received = { ...step, result: 'received' };

afterEach(() => void vi.restoreAllMocks());

describe('the events of a callback', () => {
  it('are its receipt and its result', async () => {
    const { reply, events, lookups, effects } = openShop();
    expect([await reply(post(callback)), await reply(post(callback))]).toEqual(['200 handled', '200 handled before']);
    expect([effects, lookups]).toEqual([[completed], [ID, ID]]);
    expect(events).toEqual([
      received,
      { ...step, result: 'ran', paymentStatus: 'COMPLETED', httpStatus: 200 },
      received,
      { ...step, result: 'already', paymentStatus: 'COMPLETED', httpStatus: 200 },
    ]);
    const [first, second, third, fourth] = events.map(event => event.callId);
    expect([first, third]).toEqual([second, fourth]);
    expect(first).not.toBe(third);
  });

  it.each([
    ['not_json', 400, 'nope'],
    ['not_json', 400, null],
    ['invalid', 400, '{"id":7}'],
    ['invalid', 400, 'null'],
    ['too_large', 413, ' '.repeat(262_145)],
    ['refused', 401, callback],
  ])('are one with the code %s if it is refused for good', async (code, httpStatus, body) => {
    const verify = () => code !== 'refused';
    const { reply, events, lookups, errors } = openShop({ verify });
    await reply(post(body));
    expect([lookups, errors]).toMatchObject([[], [{ name: 'WebhookError', code }]]);
    expect(events).toEqual([{ ...step, paymentId: undefined, result: 'refused', code, httpStatus }]);
  });

  const fails = (error: Error) => () => Promise.reject(error);
  it.each<[string, object, code: string]>([
    ['the lookup', { gateway: { getPayment: fails(new ConnectionError('x', 'ECONNRESET')) } }, 'ECONNRESET'],
    ['onPayment', { onPayment: fails(new Error('shop')) }, 'failed'],
    ['the store', { gateway: linked({ reconcile: fails(new Error('db')) }) }, 'failed'],
  ])('are received and failed if %s fails', async (_, options, code) => {
    const { reply, events } = openShop(options);
    await reply(post(callback));
    expect(events).toEqual([received, { ...step, result: 'failed', code, httpStatus: 503 }]);
  });

  it('of a sweep have a separate lane without an answer', async () => {
    const { process, events } = openShop();
    await process(ID);
    expect(events).toEqual([{ ...step, lane: 'sweep', result: 'ran', paymentStatus: 'COMPLETED' }]);
  });

  it('name the reason, the reference and the order of a review', async () => {
    const sandbox = new Sandbox({ fetch: async () => new Response() });
    const gateway = new GatewayClient({ ...sandbox.clientOptions, store: memoryStore() });
    const { reference, ...order } = { ...CARD, reference: 'order-1.1' };
    await gateway.checkout('order-1', order);
    await gateway.cancelOrder('order-1');
    const [payment] = sandbox.payments;
    await sandbox.complete(payment?.id ?? '');
    const { reply, events } = openShop({ gateway });
    await reply(post(JSON.stringify({ id: payment?.id })));
    const review = { type: 'review', reason: 'order_canceled', reference, order: 'order-1' };
    expect(events.map(({ type }) => type)).toEqual(['callback', 'review', 'callback']);
    expect(events[1]).toEqual({ callId, operation: 'callback', paymentId: payment?.id, ...review });
  });

  it('contain nothing of the body, and only the code of an error', async () => {
    const { reply, events } = openShop({
      onPayment: throwing(new Error('zoe@customer.example, key s3cr3t')),
    });
    const zoe = 'zoe@customer.example';
    const body = JSON.stringify({ ...completed, amount: 7, reference: `of ${zoe}`, paymentStatus: zoe });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await whileTimePasses(reply(post(body)), 100);
    vi.useRealTimers();
    expect(events.length).toBeGreaterThan(1);
    expect(inspect(events, { depth: 9, showHidden: true })).not.toMatch(/customer\.example|s3cr3t/);
  });
});

describe('without any listener', () => {
  const failing = (options: object) =>
    openShop({
      onError: undefined,
      onEvent: undefined,
      onPayment: () => Promise.reject(new RangeError('jane@customer.example')),
      ...options,
    });

  const coded = (code: unknown) => Object.assign(new Error('jane@customer.example'), { code });
  it.each<[shown: string, error: unknown]>([
    ['RangeError', new RangeError('jane@customer.example')],
    ['ConnectionError (timeout)', new ConnectionError('x', 'timeout')],
    ['Error', 'jane@customer.example'],
    ['Error (23505)', coded('23505')],
    ['Error', coded('jane@customer.example')],
  ])('a 503 causes a warning with the name of the error, without its message: %s', async (shown, error) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    await failing({ onPayment: () => Promise.reject(error) }).reply(post(callback));
    await failing({}).reply(post('nope'));
    const message = `A callback was answered 503: ${shown}. Pass onError to get the error.`;
    expect(warn.mock.calls.map(([text]) => text)).toEqual([message]);
  });

  it('a failure of afterCommit causes a warning, and the answer is 200', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const onPayment: WebhookHandlerOptions['onPayment'] = (_, { afterCommit }) =>
      afterCommit(() => Promise.reject(new TypeError('jane@customer.example')));
    expect(await failing({ onPayment }).reply(post(callback))).toBe('200 handled');
    await vi.waitFor(() => expect(warn).toHaveBeenCalled(), 60_000);
    const message = 'A function passed to afterCommit failed: TypeError. Pass onError to get the error.';
    expect(warn.mock.calls.map(([text]) => text)).toEqual([message]);
    warn.mockClear();
    for (const listener of [{ onEvent: () => {} }, { onError: () => {} }])
      expect(await failing({ onPayment, ...listener }).reply(post(callback))).toBe('200 handled');
    await new Promise(setImmediate);
    expect(warn).not.toHaveBeenCalled();
  });

  it('a review causes a warning', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const store = storeWith({ effect: async () => 'uncertain' });
    for (const listener of [{}, { onEvent: () => {} }])
      await failing({ gateway: linked({ store }), onError: () => {}, ...listener }).reply(post(callback));
    const message = `Payment ${ID} needs a review (effect_uncertain): see gateway.reviews().`;
    expect(warn.mock.calls.map(([text]) => text)).toEqual([message]);
  });
});
