// Any request that the types allow arrives as it was written, under its signature, and comes back as it was sent.
// @module-tag long
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { type Created, type CreateOptions, GatewayClient, memoryStore } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { expect, it } from 'vitest';
import { CARD, errorOf, KEYS } from '../support/fixtures.ts';
import { json, wire } from '../support/wire.ts';
import { amount, decimal, further, nftPurchaseRequest, number, paymentRequest, tries } from './arbitraries.ts';

/** As JSON has it: without what is undefined. */
const asJson = (value: unknown) => JSON.parse(JSON.stringify(value ?? null));

/** A map of the request as it comes back: PHP writes an empty one as a list, and the SDK reads a customer's id as text. */
function cameBack(given: object): object {
  const { referenceId, ...map } = asJson(given);
  const asPhp = (_: string, part: unknown) => (JSON.stringify(part) === '{}' ? [] : part);
  const parts = Object.entries(map).map(([name, part]) => [name, JSON.parse(JSON.stringify(part, asPhp))]);
  const id = referenceId === undefined ? {} : { referenceId: referenceId === null ? null : String(referenceId) };
  return { ...Object.fromEntries(parts), ...id };
}

it.each(['hex', 'base64'] as const)(
  'any request that the types allow survives serialise, sign (%s), sandbox and parse unchanged',
  async signatureEncoding => {
    const signKey = 'a key, ż';
    const sandbox = new Sandbox({ terminal: 'onramp', signatureEncoding, signKey });
    const sent: { body: string; signature: string | null }[] = [];
    const gateway = new GatewayClient({
      ...sandbox.clientOptions,
      fetch: (url, init) => {
        const body = Buffer.from(init.body ?? []).toString();
        if (body) sent.push({ body, signature: new Headers(init.headers).get('signature') });
        return sandbox.clientOptions.fetch(url, init);
      },
    });
    const asked = fc.oneof(
      fc.record({ method: fc.constant('createPayment' as const), request: paymentRequest }),
      fc.record({ method: fc.constant('createNftPurchase' as const), request: nftPurchaseRequest }),
    );
    await fc.assert(
      fc.asyncProperty(asked, further, async ({ method, request }, unknown) => {
        const extra = Object.fromEntries(Object.entries(unknown).map(([name, value]) => [`x ${name}`, value]));
        const create = gateway[method] as (request: unknown, options: CreateOptions) => Promise<Created>;
        const { payment } = await create(request, { extra });
        const [{ body, signature } = { body: '', signature: '' }] = sent.splice(0);
        const written = { paymentType: 'DEPOSIT' as const, ...request, amount: Number(request.amount) };
        expect(JSON.parse(body)).toEqual(asJson({ ...written, ...extra }));
        expect(signature).toBe(createHmac('sha256', signKey).update(body).digest(signatureEncoding));

        const { paymentType, paymentMethod, amount, currency, description = null, reference = null } = written;
        const customer = request.customer ? cameBack(request.customer) : null;
        const billingAddress = cameBack(request.billingAddress ?? {});
        const kept = { paymentType, paymentMethod, amount, currency, description, reference, customer, billingAddress };
        expect(Object.fromEntries(Object.keys(kept).map(name => [name, payment[name as keyof typeof kept]]))).toEqual(
          kept,
        );
        const { redirectUrl, ...record } = payment;
        expect(await gateway.getPayment(payment.id)).toEqual(record);
      }),
      tries(24),
    );
  },
);

it('an amount as text is sent with every digit it has, and a number as it was written', async () => {
  const { fetch, sent } = wire(json('{}', 422));
  const gateway = new GatewayClient({ ...KEYS, fetch });
  await fc.assert(
    fc.asyncProperty(amount, further, async (amount, additionalParameters) => {
      await errorOf(gateway.createDeposit({ ...CARD, additionalParameters, amount: amount as string }));
      const [{ body } = { body: '' }] = sent.splice(0);
      // Everything else is plain JSON, so what is left is the amount.
      const { amount: _, ...others } = { paymentType: 'DEPOSIT', ...CARD, additionalParameters };
      expect(JSON.parse(body)).toEqual({ ...others, amount: Number(amount) });
      expect(body).toContain(`,"amount":${amount},"currency":"EUR",`);
    }),
    tries(80),
  );
});

it('a number is sent as it is, or not at all', async () => {
  const { fetch, sent } = wire(json('{}', 422));
  const gateway = new GatewayClient({ ...KEYS, fetch });
  const seen = { sent: 0, refused: 0 };
  const any = fc.oneof(
    fc.double(),
    fc.double({ min: 1e-9, max: 1e22 }),
    number,
    fc.tuple(number, number).map(([a, b]) => a + b),
  );
  await fc.assert(
    fc.asyncProperty(any, async amount => {
      await errorOf(gateway.createDeposit({ ...CARD, amount }));
      const [one, ...more] = sent.splice(0);
      expect(more).toEqual([]);
      if (!one) {
        seen.refused += 1;
        return;
      }
      seen.sent += 1;
      const [, digits = ''] = /"amount":([^,]*),/.exec(one.body) ?? [];
      expect(digits).toMatch(/^\d+(\.\d+)?$/);
      expect([Number(digits), digits.replace('.', '').replace(/^0+/, '').length < 22]).toEqual([amount, true]);
      expect(amount).toBeGreaterThan(0);
    }),
    tries(80),
  );
  expect(Math.min(seen.sent, seen.refused)).toBeGreaterThan(20);
});

it('the digits of an amount that a store has are those of its request, without trailing zeros', async () => {
  const { fetch } = wire(json('{}', 500));
  const gateway = new GatewayClient({ ...KEYS, fetch, store: memoryStore() });
  let count = 0;
  await fc.assert(
    fc.asyncProperty(decimal, async amount => {
      const reference = `order-${++count}`;
      await errorOf(gateway.createDeposit({ ...CARD, reference, amount }));
      const { amount: kept = '' } = (await gateway.find(reference)) ?? {};
      expect(kept).not.toMatch(/\.$|\.\d*0$/);
      const [whole, fraction = ''] = amount.split('.');
      const [keptWhole, keptFraction = ''] = kept.split('.');
      expect([keptWhole, keptFraction.padEnd(fraction.length, '0')]).toEqual([whole, fraction]);
    }),
    tries(80),
  );
});
