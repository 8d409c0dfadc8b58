// What the handler reports of each callback, and what it never does.
import { inspect } from 'node:util';
import { ConnectionError, type Inbox, type WebhookHandlerOptions } from 'payment-gateway-sdk';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { errorOf, ID } from '../support/fixtures.ts';
import { callback, completed, openShop, post } from '../support/shop-callbacks.ts';

const durationMs = expect.any(Number);
const callId = expect.stringMatching(/^\w+-\w+$/);
const step = { callId, operation: 'callback', type: 'callback', paymentId: ID, lane: 'unsigned', durationMs };
const received = { ...step, result: 'received' };

afterEach(() => void vi.restoreAllMocks());

describe('the events of a callback', () => {
  it('are that it was received, and what became of it', async () => {
    const { reply, events } = openShop();
    await reply(post(callback));
    await reply(post(callback));
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
    ['invalid', 400, '{"id":7}'],
    ['too_large', 413, ' '.repeat(262_145)],
    ['refused', 401, callback],
  ])('are one with the code %s if it is refused for good', async (code, httpStatus, body) => {
    const verify = () => code !== 'refused';
    const { reply, events } = openShop({ verify });
    await reply(post(body));
    expect(events).toEqual([{ ...step, paymentId: undefined, result: 'refused', code, httpStatus }]);
  });

  it.each<[string, object, object]>([
    [
      'the lookup',
      { gateway: { getPayment: () => Promise.reject(new ConnectionError('x', 'ECONNRESET')) } },
      { code: 'ECONNRESET' },
    ],
    ['onPayment', { onPayment: () => Promise.reject(new Error('shop')) }, { code: 'failed' }],
    [
      'the journal',
      { gateway: { getPayment: async () => completed, reconcile: () => Promise.reject(new Error('db')) } },
      { code: 'failed' },
    ],
  ])('are received and failed if %s fails', async (_, options, failure) => {
    const { reply, events } = openShop(options);
    await reply(post(callback));
    expect(events).toEqual([received, { ...step, result: 'failed', ...failure, httpStatus: 503 }]);
  });

  it.each([
    ['of the merchant', Object.assign(new Error('x'), { code: 'refused' })],
    ['of the same name', Object.assign(new Error('x'), { name: 'WebhookError', code: 'invalid' })],
    ['of a connection', new ConnectionError('x', 'refused')],
  ])('are no refusal because an error %s has the code of one', async (_, error) => {
    const { reply, events } = openShop({ gateway: { getPayment: () => Promise.reject(error) } });
    expect(await reply(post(callback))).toBe('503 failed');
    expect(events).toMatchObject([{ result: 'received' }, { result: 'failed', httpStatus: 503 }]);
  });

  it('are received and busy if another worker has the payment', async () => {
    const inbox: Inbox = { run: async () => 'busy' };
    const { reply, events } = openShop({ inbox });
    await reply(post(callback));
    expect(events).toEqual([received, { ...step, result: 'busy', code: 'busy', httpStatus: 503 }]);
  });

  it('of a sweep have its own lane, and no answer', async () => {
    const { handler, events } = openShop();
    await handler.process(ID);
    expect(events).toEqual([{ ...step, lane: 'sweep', result: 'ran', paymentStatus: 'COMPLETED' }]);
  });

  it('of a sweep tell also of an option that is refused', async () => {
    const { handler, events } = openShop();
    await errorOf(handler.process(ID, { timeout: -1 }));
    expect(events).toEqual([{ ...step, lane: 'sweep', result: 'failed', code: 'invalid_request' }]);
  });

  it('count milliseconds from its arrival', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { reply, events } = openShop({}, async () => {
      vi.advanceTimersByTime(30);
      return completed;
    });
    await reply(post(callback));
    vi.useRealTimers();
    expect(events).toMatchObject([{ durationMs: 0 }, { durationMs: 30 }]);
  });

  it('hold nothing of the body, and nothing of an error but its code', async () => {
    const { reply, events } = openShop({
      onPayment: () => {
        throw new Error('zoe@customer.example, key s3cr3t');
      },
    });
    const body = JSON.stringify({
      ...completed,
      amount: 7,
      reference: 'of zoe@customer.example',
      paymentStatus: 'zoe@customer.example',
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const replying = reply(post(body));
    await vi.runAllTimersAsync();
    await replying;
    vi.useRealTimers();
    expect(events.length).toBeGreaterThan(2);
    expect(inspect(events, { depth: 9, showHidden: true })).not.toMatch(/customer\.example|s3cr3t/);
  });

  it('change nothing, whatever the listener throws', async () => {
    const { reply, effects } = openShop({
      onEvent: () => {
        throw new Error('logger');
      },
    });
    expect([await reply(post(callback)), effects.length]).toEqual(['200 handled', 1]);
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

  it('a callback that is answered 503 is a warning with the name of the error, and nothing of its words', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    await failing({}).reply(post(callback));
    await failing({ gateway: { getPayment: () => Promise.reject(new ConnectionError('x', 'timeout')) } }).reply(
      post(callback),
    );
    await failing({}).reply(post('nope'));
    await failing({ onPayment: () => Promise.reject('jane@customer.example') }).reply(post(callback));
    const coded = (code: unknown) => Object.assign(new Error('jane@customer.example'), { code });
    await failing({ onPayment: () => Promise.reject(coded('23505')) }).reply(post(callback));
    await failing({ onPayment: () => Promise.reject(coded('jane@customer.example')) }).reply(post(callback));
    expect(warn.mock.calls.map(([told]) => told)).toEqual([
      'A callback was answered 503: RangeError. Pass onError to get the error.',
      'A callback was answered 503: ConnectionError (timeout). Pass onError to get the error.',
      'A callback was answered 503: string. Pass onError to get the error.',
      'A callback was answered 503: Error (23505). Pass onError to get the error.',
      'A callback was answered 503: Error. Pass onError to get the error.',
    ]);
  });

  it('what fails after the commit is another warning: that callback was answered 200', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const onPayment: WebhookHandlerOptions['onPayment'] = (_, { afterCommit }) =>
      afterCommit(() => Promise.reject(new TypeError('jane@customer.example')));
    expect(await failing({ onPayment }).reply(post(callback))).toBe('200 handled');
    expect(warn.mock.calls.map(([told]) => told)).toEqual([
      'What onPayment passed to afterCommit failed: TypeError. Pass onError to get the error.',
    ]);
    warn.mockClear();
    for (const listener of [{ onEvent: () => {} }, { onError: () => {} }])
      expect(await failing({ onPayment, ...listener }).reply(post(callback))).toBe('200 handled');
    expect(warn).not.toHaveBeenCalled();
  });

  it('and with one there is none', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    await failing({ onEvent: () => {} }).reply(post(callback));
    await failing({ onError: () => {} }).reply(post(callback));
    expect(warn).not.toHaveBeenCalled();
  });
});
