import { GatewayClient } from 'payment-gateway-sdk';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { rawStatusOf } from '../../src/schemas/payment-status.ts';
import { errorOf, ID, KEYS, OTHER_ID, record } from '../support/fixtures.ts';
import { type Answer, json, networkError, wire } from '../support/wire.ts';

const callback = record('completed CARD callback');
/** What a lookup answers: the record of that callback, in some state. */
const as = (status: string) => json(`{"result":${callback.replace('COMPLETED', status)}}`);
const client = (...answers: [Answer, ...Answer[]]) => {
  const { fetch, sent } = wire(...answers);
  return { gateway: new GatewayClient({ ...KEYS, fetch, retries: 0 }), sent };
};

// ky is loaded by the first lookup, and no fake clock waits for that.
beforeAll(async () => void (await client(as('COMPLETED')).gateway.confirmWebhook(callback)));
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function confirmed(rawBody: string | Uint8Array | object, ...answers: [Answer, ...Answer[]]) {
  const { gateway, sent } = client(...answers);
  const begun = performance.now();
  const settled = gateway.confirmWebhook(rawBody).then(
    answer => ({ ...answer, error: undefined, ms: performance.now() - begun }),
    error => ({ payment: undefined, claim: undefined, mismatches: undefined, error, ms: performance.now() - begun }),
  );
  await vi.runAllTimersAsync();
  return { ...(await settled), lookups: sent.length };
}

describe('confirmWebhook', () => {
  it("answers the gateway's own record, and the claim", async () => {
    const { payment, claim, lookups } = await confirmed(callback, as('COMPLETED'));
    expect(payment).toMatchObject({ id: ID, paymentStatus: 'COMPLETED' });
    expect(claim).toMatchObject({ id: ID, paymentStatus: 'COMPLETED', amount: 25.5 });
    expect(lookups).toBe(1);
  });

  it('needs no more of a callback than its id: those of withdrawals and on-ramp payments are not documented', async () => {
    const { payment } = await confirmed({ id: ID.toUpperCase() }, as('COMPLETED'));
    expect(payment).toHaveProperty('id', ID);
  });

  it.each([
    ['an amount as text', { amount: '25.50' }],
    ['nulls', { amount: null, currency: null, paymentType: null, reference: null }],
    ['another method and customer', { paymentMethod: 'X', customer: 7 }],
  ])('bears with %s', async (_, changes) => {
    const { payment } = await confirmed({ ...JSON.parse(callback), ...changes }, as('COMPLETED'));
    expect(payment).toHaveProperty('id', ID);
  });

  it.each([
    ['amount', { amount: 2550 }],
    ['amount', { amount: '10,00' }],
    ['currency', { currency: 'eur' }],
    ['paymentType', { paymentType: 'WITHDRAWAL' }],
    ['reference', { reference: 'order/2' }],
    ['reference', { reference: 'x'.repeat(300) }],
    ['reference', { reference: {} }],
  ])('tells that the %s differs, and takes the callback all the same: %j', async (field, changes) => {
    const { payment, mismatches, lookups } = await confirmed({ ...JSON.parse(callback), ...changes }, as('COMPLETED'));
    expect([payment?.id, mismatches, lookups]).toEqual([ID, [field], 1]);
  });

  it.each([
    ['the same', {}],
    ['an amount of the same value', { amount: '25.50' }],
    ['fields that are absent', { amount: undefined, currency: undefined, reference: undefined }],
    ['fields that are null', { amount: null, currency: null, paymentType: null, reference: null }],
    ['an empty reference', { reference: '' }],
  ])('tells of no difference: %s', async (_, changes) => {
    const { mismatches } = await confirmed({ ...JSON.parse(callback), ...changes }, as('COMPLETED'));
    expect(mismatches).toEqual([]);
  });

  it('bears with a reference that is nested very deeply', async () => {
    const reference = JSON.parse(`${'['.repeat(40_000)}${']'.repeat(40_000)}`);
    const { mismatches } = await confirmed({ ...JSON.parse(callback), reference }, as('COMPLETED'));
    expect(mismatches).toEqual(['reference']);
  });

  it.each([
    ['07', '7', ['reference']],
    ['x'.repeat(300), 'x'.repeat(300), []],
  ])('compares references as they are written: %s with %s', async (claimed, recorded, differs) => {
    const withReference = (reference: string) => ({ ...JSON.parse(callback), reference });
    const answer = json(JSON.stringify({ result: withReference(recorded) }));
    expect((await confirmed(withReference(claimed), answer)).mismatches).toEqual(differs);
  });

  it('says that a payment which the gateway does not know may come later', async () => {
    const { error } = await confirmed({ id: OTHER_ID }, json('', 404));
    expect(error).toMatchObject({ name: 'WebhookError', code: 'unknown_payment', paymentId: OTHER_ID, issues: [] });
    expect(error.message).toBe(
      `A callback is about payment ${OTHER_ID}, and the gateway does not know it (yet). It may be forged: take it again later.`,
    );
  });

  it.each([
    ['not_json', 'nope'],
    ['invalid', '{"id":"order-1"}'],
    ['invalid', '[]'],
  ])('refuses as %s, before any lookup, what cannot be a payment: %s', async (code, rawBody) => {
    const { error, lookups } = await confirmed(rawBody, as('COMPLETED'));
    expect(error).toMatchObject({ name: 'WebhookError', code });
    expect(lookups).toBe(0);
  });

  it('names what is wrong with the id, without showing it', async () => {
    const { error } = await confirmed('{"id":"zoe@customer.example"}', as('COMPLETED'));
    expect(error.message).toMatch(/^This is not a payment callback: id: /);
    expect(error.message).not.toContain('zoe@');
  });

  it.each([
    ['COMPLETED', 'PENDING'],
    ['COMPLETED', 'AUTHORIZED'],
    ['FAILED', 'PENDING'],
    ['CANCELED', 'SOMETHING_NEW'],
    ['AUTHORIZED', 'PENDING'],
    ['SOMETHING_NEW', 'PENDING'],
  ])('looks again when the callback says %s and the record still %s', async (claimed, recorded) => {
    const body = callback.replace('COMPLETED', claimed);
    const soon = await confirmed(body, as(recorded), as(recorded), as(claimed));
    expect([soon.payment && rawStatusOf(soon.payment), soon.lookups, Math.round(soon.ms)]).toEqual([claimed, 3, 1500]);
    const never = await confirmed(body, as(recorded));
    expect(never.error).toMatchObject({ name: 'WebhookError', code: 'lagging', paymentId: ID, issues: [] });
    expect(never.error.message).toMatch(
      new RegExp(`payment ${ID} has another status, and a lookup still says \\w+\\. Take the callback again later`),
    );
    expect(never.lookups).toBe(3);
  });

  it.each([
    ['PENDING', 'COMPLETED'],
    ['AUTHORIZED', 'FAILED'],
    ['COMPLETED', 'FAILED'],
    ['AUTHORIZED', 'SOMETHING_NEW'],
    ['PENDING', 'PENDING'],
    ['authorized', 'AUTHORIZED'],
    ['CANCELLED', 'CANCELED'],
    ['something_new', 'SOMETHING_NEW'],
  ])('believes the record at once when the callback says %s and the record %s', async (claimed, recorded) => {
    const { payment, lookups } = await confirmed(callback.replace('COMPLETED', claimed), as(recorded));
    expect([payment && rawStatusOf(payment), lookups]).toEqual([recorded, 1]);
  });

  it('passes on why a lookup failed', async () => {
    expect((await confirmed(callback, json('', 503))).error).toMatchObject({ name: 'ApiError', status: 503 });
    expect((await confirmed(callback, networkError('ECONNRESET', 'read'))).error).toMatchObject({
      code: 'ECONNRESET',
    });
  });

  it('gives each lookup what is left of its time-out', async () => {
    const silent = new Promise<never>(() => {});
    const { gateway } = client(as('PENDING'), () => silent);
    const begun = performance.now();
    const settled = errorOf(gateway.confirmWebhook(callback, { timeout: 3_000 })).then(error => ({
      error,
      ms: performance.now() - begun,
    }));
    await vi.advanceTimersByTimeAsync(10_000);
    const { error, ms } = await settled;
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'timeout' });
    expect(ms).toBeGreaterThan(2_900);
    expect(ms).toBeLessThan(3_100);
  });

  it('keeps within its time-out, and heeds its signal', async () => {
    const { gateway, sent } = client(as('PENDING'));
    // At 500 ms it would look again, with no time left for that.
    const late = await errorOf(gateway.confirmWebhook(callback, { timeout: 500 }));
    expect([late, sent.length]).toEqual([expect.objectContaining({ code: 'lagging' }), 1]);
    const { fetch, sent: byDefault } = wire(as('PENDING'));
    const hasty = new GatewayClient({ ...KEYS, fetch, timeout: 100 });
    await errorOf(hasty.confirmWebhook(callback, { timeout: undefined }));
    expect(byDefault).toHaveLength(1);
    const stop = new AbortController();
    const stopping = errorOf(gateway.confirmWebhook(callback, { signal: stop.signal }));
    await vi.advanceTimersByTimeAsync(50);
    stop.abort();
    expect(await stopping).toMatchObject({ name: 'ConnectionError', code: 'aborted' });
  });
});
