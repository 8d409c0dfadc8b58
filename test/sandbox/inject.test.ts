// What each fault makes of a call: of what is kept, and of what is answered.
import { describe, expect, it, vi } from 'vitest';
import { type Answer, JSON_TYPE } from '../../src/sandbox/answer.ts';
import { alteredBy } from '../../src/sandbox/faults/alter.ts';
import { injectAfter, injectBefore } from '../../src/sandbox/faults/inject.ts';
import type { CallFault } from '../../src/sandbox/faults/kinds.ts';
import { fakeTimers } from '../support/passing-time.ts';

const { signal } = new AbortController();
const created = { date: '2026-11-23 10:00:00.000000', timezone_type: 3, timezone: 'UTC' };
const record = { id: 'x', amount: 25.5, currency: 'EUR', paymentStatus: 'PENDING', created };
const answer: Answer = { status: 201, headers: JSON_TYPE, paymentId: 'x', body: JSON.stringify({ result: record }) };
const broke = expect.objectContaining({
  message: 'fetch failed',
  cause: expect.objectContaining({ code: 'UND_ERR_SOCKET' }),
});

describe('a call that is kept from the gateway', () => {
  const refused = (status: number, message: string, details: object = {}, headers: object = {}) => ({
    ...{ status, message, headers: { ...JSON_TYPE, ...headers } },
    body: JSON.stringify({ message, ...details }),
  });
  const currency = ['This currency is not enabled for the terminal.'];
  it.each<[CallFault, object]>([
    ['reject-401', refused(401, 'Unauthenticated. (A fault was armed.)')],
    ['reject-422', refused(422, 'The given data was invalid. (A fault was armed.)', { errors: { currency } })],
    ['reject-429', refused(429, 'Too many requests. (A fault was armed.)', {}, { 'retry-after': '1' })],
  ])('by %s is answered so', (fault, expected) => {
    expect(injectBefore(fault)).toEqual(expected);
  });

  it('by drop finds its connection broken', () => {
    expect(() => injectBefore('drop')).toThrow(broke);
  });

  it('is none without a fault, or by one that spoils the answer', () => {
    expect([injectBefore(undefined), injectBefore('commit-then-502')]).toEqual([undefined, undefined]);
  });
});

describe('an answer', () => {
  const spoilt = (fault: CallFault, given = answer) => injectAfter({ fault, count: 1 } as never, given, signal);
  const resultOf = async (fault: CallFault, given?: Answer) => JSON.parse((await spoilt(fault, given)).body).result;

  it('is lost by commit-then-drop, and cut by commit-then-cut', async () => {
    await expect(spoilt('commit-then-drop')).rejects.toEqual(broke);
    expect(await spoilt('commit-then-cut')).toEqual({ ...answer, isCut: true });
  });

  it("is a proxy's page by commit-then-502", async () => {
    const { body, ...rest } = await spoilt('commit-then-502');
    expect(rest).toEqual({ status: 502, headers: { 'content-type': 'text/html' }, paymentId: 'x' });
    expect(body).toMatch(/^<html>\r\n<head><title>502 Bad Gateway<\/title>[\s\S]*<\/html>\r\n$/);
  });

  it('is half of it by commit-then-truncate', async () => {
    const half = answer.body.slice(0, Math.floor(answer.body.length / 2));
    expect(await spoilt('commit-then-truncate')).toEqual({ ...answer, body: half });
  });

  it.each<[CallFault, object]>([
    ['commit-then-drift', { amount: { value: '25.5', currency: 'EUR' } }],
    ['unknown-status', { paymentStatus: 'IN_REVIEW' }],
    ['created-offset', { created: { date: '2026-11-23 12:00:00.000000', timezone_type: 1, timezone: '+02:00' } }],
    ['created-abbreviation', { created: { date: '2026-11-23 05:00:00.000000', timezone_type: 2, timezone: 'EST' } }],
  ])('has other fields by %s, wrapped or not', async (fault, changes) => {
    expect(await resultOf(fault)).toEqual({ ...record, ...changes });
    const unwrapped = await spoilt(fault, { ...answer, body: JSON.stringify(record), headers: undefined });
    expect(unwrapped).toMatchObject({ status: 201, headers: JSON_TYPE, paymentId: 'x' });
    expect(JSON.parse(unwrapped.body)).toEqual({ ...record, ...changes });
  });

  it('without a date keeps none', async () => {
    const undated = { ...answer, body: JSON.stringify({ result: { id: 'x' } }) };
    expect(await resultOf('created-offset', undated)).toEqual({ id: 'x' });
  });

  it.each([
    [undefined, 35_000],
    [200, 200],
  ])('that is slow (%s) comes after %i ms, unless the caller gives up', async (ms, expected) => {
    fakeTimers();
    let arrived: Answer | undefined;
    void injectAfter({ fault: 'slow', count: 1, ms } as never, answer, signal).then(given => {
      arrived = given;
    });
    await vi.advanceTimersByTimeAsync(expected - 1);
    expect(arrived).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(arrived).toBe(answer);
    const controller = new AbortController();
    const given = injectAfter({ fault: 'slow', count: 1, ms } as never, answer, controller.signal);
    controller.abort(new Error('gone'));
    await expect(given).rejects.toThrow('gone');
  });

  it('is as it was by every other fault', async () => {
    expect(await spoilt('reference-trim')).toBe(answer);
  });
});

describe('what is kept of a create', () => {
  it.each<[CallFault | undefined, string | null, number, object]>([
    ['reference-trim', ' Order-1 ', 1, { reference: 'Order-1' }],
    ['reference-fold', ' Order-1 ', 1, { reference: ' order-1 ' }],
    ['reference-trim', null, 1, { reference: null }],
    ['reference-fold', null, 1, { reference: null }],
    ['amount-round', 'Order-1', 25.5, { amount: 26 }],
    ['amount-round', 'Order-1', 0.2, { amount: 1 }],
    ['drop', ' Order-1 ', 25.5, {}],
    [undefined, ' Order-1 ', 25.5, {}],
  ])('by %s of %j and %d is changed to %j', (fault, reference, amount, changes) => {
    expect(alteredBy(fault, { reference, amount } as never)).toEqual(changes);
  });
});
