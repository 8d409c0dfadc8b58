// What stands in the row of a plan, and what is refused as one.
import fc from 'fast-check';
import { ApiError } from 'payment-gateway-sdk';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openPlan } from '../../src/journal/plan.ts';
import { isRefusedRequest, refuseSwapped } from '../../src/journal/planned.ts';
import { rawJSON } from '../../src/schemas/json.ts';
import { tries } from '../support/arbitraries.ts';
import { errorOf } from '../support/fixtures.ts';
import { openShop, PLANNED, taken, tx } from '../support/planned-shop.ts';
import { json, wire } from '../support/wire.ts';

afterEach(() => void vi.useRealTimers());

describe('what a plan is not', () => {
  it.each([{ paymentType: 'WITHDRAWAL' }, { paymentMethod: 'SEPA' }, PLANNED])(
    'a request in place of the transaction: %j',
    tx => {
      expect(() => refuseSwapped(tx)).toThrow('plan takes your transaction first, and then the request');
    },
  );

  it.each([undefined, null, 'tx', {}, { paymentType: 7, paymentMethod: null }])('a transaction such as %j', tx => {
    expect(() => refuseSwapped(tx)).not.toThrow();
  });

  it('a body that is no JSON, or another way to write it', () => {
    expect(() => openPlan('{')).toThrow(
      'A planned request is not one that this SDK has written: somebody has changed the row.',
    );
  });

  it('a refusal of its request, unless it was surely refused, for what it says', () => {
    const refusal = (status: number, outcome: 'rejected' | 'unknown') =>
      new ApiError('no', { status } as never, { outcome });
    expect([400, 413, 414, 422].map(status => isRefusedRequest(refusal(status, 'rejected')))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect([401, 403, 404, 429, 500].map(status => isRefusedRequest(refusal(status, 'rejected')))).not.toContain(true);
    expect(isRefusedRequest(refusal(422, 'unknown'))).toBe(false);
    expect(isRefusedRequest(Object.assign(new Error('no'), { status: 422, outcome: 'rejected' }))).toBe(false);
  });
});

describe('what is kept of a plan', () => {
  it('makes the very request that was planned, for any request and extra', { tags: 'long' }, async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 12 });
    const scalar = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.constant(undefined));
    const fields = fc.dictionary(
      fc.stringMatching(/^[a-z]{3,8}$/),
      fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })),
    );
    const amount = fc.oneof(
      fc.constantFrom<string>('25.50', '1', '0.10', '120.00', '1234567890123.12'),
      fc.integer({ min: 1, max: 1e9 }).map(cents => cents / 100),
    );
    const request = fc.record({ amount, additionalParameters: fields, description: fc.oneof(text, fc.constant(null)) });
    const { fetch, sent } = wire(json('{}', 422));
    await fc.assert(
      fc.asyncProperty(request, fields, async (changes, given) => {
        const [planned, direct] = [openShop(fetch), openShop(fetch)];
        const extra = Object.fromEntries(Object.entries(given).map(([name, value]) => [`x_${name}`, value]));
        const wanted = { ...PLANNED, ...changes };
        await planned.journal.plan(tx, wanted, { extra });
        const row = await planned.rowOf('payout-1');
        await planned.gateway.drain();
        await errorOf(direct.gateway.createPayment(wanted, { extra }));
        const [byPlan, byCreate] = sent.splice(0);
        expect(byPlan?.body).toBe(byCreate?.body);
        expect((await direct.rowOf('payout-1'))?.bodyHash).toBe(row?.bodyHash);
      }),
      tries(20),
    );
  });

  it('keeps every digit, and every name, of what extra holds', async () => {
    const { fetch, sent } = wire(taken);
    const { journal, gateway } = openShop(fetch);
    const extra = JSON.parse('{"__proto__":{"a":1}}');
    Object.assign(extra, { digits: rawJSON('12345678901234567890.12'), tenth: [rawJSON('0.10'), 1e21, -0.5] });
    await journal.plan(tx, PLANNED, { extra });
    await gateway.drain();
    expect(sent[0]?.body).toContain('"__proto__":{"a":1},"digits":12345678901234567890.12,"tenth":[0.10,1e+21,-0.5]}');
  });
});
