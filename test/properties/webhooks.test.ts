// Whatever parseWebhook is given, also by mistake or in malice: a payment, or a WebhookError.
// @module-tag long
import fc from 'fast-check';
import { isGatewayError, parseWebhook, WebhookError } from 'payment-gateway-sdk';
import { expect, it } from 'vitest';
import { readClaim } from '../../src/webhooks/claim.ts';
import { character, record, text, tries } from './arbitraries.ts';

const ring = (object: object) => {
  const own: Record<string, unknown> = { ...object };
  own.customer = { own };
  own.description = own;
  return own;
};

const anything = fc.anything({
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
  stringUnit: character,
});

/** What no parser of JSON makes. */
const odd: fc.Arbitrary<unknown> = fc.oneof(
  anything,
  fc.constantFrom<unknown>(
    Symbol('x'),
    () => {},
    class {},
    new WeakMap(),
    new SharedArrayBuffer(4),
    new Error('x'),
    1n,
  ),
  fc.constantFrom(Promise.resolve(), new Response('x'), globalThis),
);

const input = fc.oneof(
  anything,
  odd,
  record,
  // A record with something odd in any field, those that decide money among them.
  fc
    .tuple(record, fc.dictionary(fc.oneof(text, fc.constantFrom('id', 'amount', 'paymentStatus', 'customer')), odd))
    .map(([given, changes]) => ({ ...given, ...changes })),
  record.map(ring),
  fc.uint8Array({ maxLength: 50 }),
  record.map(given => new TextEncoder().encode(JSON.stringify(given)).buffer),
);

/** What the reading of a callback throws. */
function thrownBy(read: () => unknown): unknown {
  try {
    read();
  } catch (error) {
    return error;
  }
  return undefined;
}

it('no input makes parseWebhook or the handler throw anything but WebhookError', () => {
  const seen = { read: 0, refused: 0 };
  fc.assert(
    fc.property(input, given => {
      expect(thrownBy(() => readClaim(given)) ?? new WebhookError('invalid', '')).toBeInstanceOf(WebhookError);
      try {
        const { id, amount, currency, paymentType } = parseWebhook(given as object);
        seen.read += 1;
        expect([typeof id, typeof amount, typeof currency, typeof paymentType]).toEqual([
          'string',
          'number',
          'string',
          'string',
        ]);
      } catch (error) {
        if (!(error instanceof WebhookError)) throw error;
        seen.refused += 1;
        expect(isGatewayError(error)).toBe(true);
      }
    }),
    // Beyond the thousandth the schema is compiled.
    tries(700),
  );
  expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(60);
});
