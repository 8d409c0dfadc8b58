// Whatever parseWebhook is given, also by mistake or in malice: a payment, or a WebhookError.
// @module-tag long
import fc from 'fast-check';
import { isGatewayError, parseWebhook, WebhookError } from 'payment-gateway-sdk';
import { expect, it } from 'vitest';
import { readClaim } from '../../src/webhooks/claim.ts';
import { character, record, text, tries } from './arbitraries.ts';

/** An object that throws from whatever is asked of it: the traps named, or all. */
const hostile = (target: object, traps: readonly string[]) =>
  new Proxy(
    target,
    Object.fromEntries(
      traps.map(trap => [
        trap,
        () => {
          throw new RangeError('hands off');
        },
      ]),
    ),
  );

const TRAPS = ['get', 'has', 'ownKeys', 'getOwnPropertyDescriptor', 'getPrototypeOf'];

const throwing = (object: object, name: string) =>
  Object.defineProperty({ ...object }, name, {
    enumerable: true,
    get: () => {
      throw new RangeError('hands off');
    },
  });

const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

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

/** One that is made when it is used: fast-check could not print it. */
const made = (name: string, record: object, make: () => unknown) => ({
  make,
  [fc.toStringMethod]: () => `${name} of ${fc.stringify(record)}`,
});

const traps = fc.subarray(TRAPS, { minLength: 1 });
const getters = fc.constantFrom('id', 'paymentStatus', 'customer', 'created', 'result', 'then', 'x');

const input = fc.oneof(
  fc
    .oneof(
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
    )
    .map(value => ({ make: (): unknown => value, [fc.toStringMethod]: () => fc.stringify(value) })),
  fc.tuple(record, getters).map(([given, name]) => made(`a getter ${name}`, given, () => throwing(given, name))),
  fc.tuple(record, traps).map(([given, names]) => made(`traps ${names}`, given, () => hostile(given, names))),
  fc.tuple(record, traps).map(([given, names]) => {
    return made(`traps ${names} within`, given, () => ({ ...given, customer: hostile({}, names) }));
  }),
  fc.constant(made('a revoked proxy', {}, revoked)),
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
    fc.property(input, ({ make }) => {
      expect(thrownBy(() => readClaim(make())) ?? new WebhookError('invalid', '')).toBeInstanceOf(WebhookError);
      try {
        const { id, amount, currency, paymentType } = parseWebhook(make() as object);
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
        expect([isGatewayError(error), error.message.includes('hands off')]).toEqual([true, false]);
      }
    }),
    // Beyond the thousandth the schema is compiled.
    tries(700),
  );
  expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(60);
});
