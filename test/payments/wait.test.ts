import { GatewayClient, isPaid, type Payment } from 'payment-gateway-sdk';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ID, KEYS, record, throwing } from '../support/fixtures.ts';
import { timed } from '../support/passing-time.ts';
import { json, networkError, wire } from '../support/wire.ts';
// The client loads it when it is made, which takes real time: more than passes here.
import '../../src/http/client.ts';

const as = (status: string) => json(record('completed lookup').replace('COMPLETED', status));
const wait = (fetch: ReturnType<typeof wire>['fetch'], options: object = {}, retries = 0) =>
  new GatewayClient({ ...KEYS, fetch, retries }).waitForPayment(ID, options);

describe('waitForPayment', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each(['COMPLETED', 'FAILED', 'CANCELED'])('ends when the payment is %s', async status => {
    const { fetch, sent } = wire(as('PENDING'), as('AUTHORIZED'), as('SOMETHING_NEW'), as(status));
    const { value: payment } = await timed(wait(fetch));
    expect([payment?.paymentStatus, sent.length]).toEqual([status, 4]);
  });

  it('looks ever less often, down to once in ten seconds', async () => {
    const looks: number[] = [];
    const { fetch } = wire(() => {
      looks.push(performance.now());
      return as('PENDING');
    });
    await timed(wait(fetch, { timeout: 120_000 }));
    const pauses = looks.slice(1, 12).map((look, index) => Math.round(look - (looks[index] ?? 0)));
    expect(pauses).toEqual([500, 750, 1125, 1687, 2531, 3796, 5695, 8542, 10_000, 10_000, 10_000]);
  });

  it('ends at its deadline with the payment as last seen, which no printer shows', async () => {
    const { fetch } = wire(as('PENDING'));
    const { error, ms } = await timed(wait(fetch, { timeout: 4000 }));
    expect(error).toMatchObject({ name: 'WaitTimeoutError', code: 'wait_timeout', paymentId: ID });
    expect(error).toHaveProperty('lastPayment.paymentStatus', 'PENDING');
    expect(error.message).toContain(`Payment ${ID} did not reach the awaited status within 4000 ms: it is PENDING.`);
    expect(Object.keys(error)).not.toContain('lastPayment');
    expect([ms > 3900, ms <= 4000]).toEqual([true, true]);
  });

  it('ends when `until` says so, and with what it throws', async () => {
    const authorized = (payment: Payment) => payment.paymentStatus === 'AUTHORIZED' || isPaid(payment);
    const { value: payment } = await timed(wait(wire(as('PENDING'), as('AUTHORIZED')).fetch, { until: authorized }));
    expect(payment?.paymentStatus).toBe('AUTHORIZED');
    const failing = throwing(new Error('until'));
    expect((await timed(wait(wire(as('PENDING')).fetch, { until: failing }))).error).toEqual(new Error('until'));
  });

  it.each([
    ['a busy gateway', json('', 503)],
    ['a gateway without the call', json('', 501)],
    ['a rate limit', json('', 429)],
    ['a cut connection', networkError('ECONNRESET', 'read')],
  ])('outlives %s', async (_, trouble) => {
    const { value: payment } = await timed(wait(wire(as('PENDING'), trouble, trouble, as('COMPLETED')).fetch));
    expect(payment?.paymentStatus).toBe('COMPLETED');
  });

  it('asks no earlier than the gateway wants it to, up to ten seconds, and as before once it answers', async () => {
    const looks: number[] = [];
    const answers = [json('', 429, { 'retry-after': '60' }), as('PENDING'), as('PENDING'), as('COMPLETED')];
    const { fetch } = wire(() => {
      looks.push(performance.now());
      return answers.shift() as Response;
    });
    await timed(wait(fetch));
    const pauses = looks.slice(1).map((look, index) => look - (looks[index] ?? 0));
    expect(pauses[0]).toBeCloseTo(10_000, -2);
    expect(Math.max(...pauses.slice(1))).toBeLessThan(5_000);
  });

  it('tells the trouble of its lookups if none succeeded', async () => {
    const { error } = await timed(wait(wire(json('', 503)).fetch, { timeout: 3000 }));
    expect(error).toMatchObject({
      name: 'WaitTimeoutError',
      lastPayment: undefined,
      cause: { name: 'ApiError', status: 503 },
    });
    expect(error.message).toContain('within 3000 ms: no lookup succeeded.');
  });

  it.each([
    ['an unknown id', json('', 404), 'PaymentNotFoundError'],
    ['a wrong key', json('', 401), 'ApiError'],
    ['an answer it cannot read', json('<html>'), 'ResponseError'],
  ])('ends at once with %s', async (_, answer, name) => {
    const { error, ms } = await timed(wait(wire(answer).fetch));
    expect([error.name, ms < 10]).toEqual([name, true]);
  });

  it('is stopped by its signal, in a pause as well as in a lookup', async () => {
    for (const fetch of [wire(as('PENDING')).fetch, wire(() => new Promise(() => {})).fetch]) {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 700);
      const { error, ms } = await timed(wait(fetch, { signal: controller.signal }));
      expect([error.name, error.code, Math.round(ms / 100)]).toEqual(['ConnectionError', 'aborted', 7]);
    }
  });

  it.each([
    ['throws', throwing(new Error('observer'))],
    ['rejects', () => Promise.reject(new Error('observer'))],
  ])('reports each look to onPoll, and goes on if that %s', async (_, onPoll) => {
    const heard: string[] = [];
    const observer = (payment: Payment) => {
      heard.push(payment.paymentStatus);
      return onPoll();
    };
    await timed(wait(wire(as('PENDING'), as('COMPLETED')).fetch, { onPoll: observer }));
    expect(heard).toEqual(['PENDING', 'COMPLETED']);
  });

  it.each([0, -5, Number.NaN, Number.POSITIVE_INFINITY])('refuses the time-out %d', async timeout => {
    await expect(wait(wire(as('PENDING')).fetch, { timeout })).rejects.toMatchObject({
      name: 'InvalidRequestError',
      message: expect.stringContaining('options.timeout'),
    });
  });
});
