// The id that is found in what is left of an answer is the payment's own, or none.
// @module-tag long
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findPaymentId } from '../../src/payments/response.ts';
import { further, record, tries, uuid } from './arbitraries.ts';

/** Objects that have an id too, and are no payment of ours: a customer, an error, another payment. */
const stranger = fc.record(
  { id: uuid, uuid, paymentStatus: fc.constant('COMPLETED'), customer: fc.record({ id: uuid }), message: fc.string() },
  { requiredKeys: ['id'] },
);
const strangers = fc.dictionary(
  fc.stringMatching(/^[a-z_]{3,8}$/).filter(name => name !== 'result'),
  fc.oneof(
    stranger,
    fc.array(stranger, { maxLength: 2 }),
    stranger.map(object => JSON.stringify(object)),
    uuid,
  ),
  { maxKeys: 3 },
);
const transfer = fc.record({ number: fc.string(), uuid, amount: fc.constant('80.00') }, { requiredKeys: [] });

/** As PHP writes it, as most do, and for people. */
const WRITTEN = [
  (value: unknown) => JSON.stringify(value),
  (value: unknown) => JSON.stringify(value, null, 2),
  (value: unknown) =>
    JSON.stringify(value)
      .replaceAll('/', '\\/')
      .replace(/[^\x20-\x7e]/g, escaped),
];
const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

const BEFORE = ['', '\uFEFF', '\n\n', '<br />\n<b>Warning</b>: Undefined index "id" in {main} on line 3\n'];

const answer = fc
  .tuple(record, strangers, strangers, transfer, further, fc.constantFrom(0, 1, 2, 3))
  .map(([own, inRecord, beside, transfer, unknown, order]) => {
    const payment = order % 2 ? { ...unknown, ...inRecord, ...own } : { ...own, ...unknown, ...inRecord, id: own.id };
    const { id, ...others } = beside as Record<string, unknown>;
    const wrapped =
      order > 1 ? { ...others, ...transfer, result: payment } : { result: payment, ...others, ...transfer };
    return { id: own.id, wrapped, bare: payment };
  });

it('the id found in any prefix of any answer is the payment’s own, or none', () => {
  const seen = { own: 0, none: 0 };
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 30, maxLength: 30 });
  fc.assert(
    fc.property(
      answer,
      fc.boolean(),
      fc.constantFrom(...WRITTEN),
      fc.constantFrom(...BEFORE),
      cuts,
      ({ id, wrapped, bare }, isWrapped, write, before, cuts) => {
        const text = before + write(isWrapped ? wrapped : bare);
        expect(findPaymentId(text)).toBe(id);
        for (const cut of cuts) {
          const prefix = text.slice(0, Math.floor(cut * text.length));
          const found = findPaymentId(prefix);
          seen[found === undefined ? 'none' : 'own'] += 1;
          if (found !== undefined) expect([prefix, found]).toEqual([prefix, id]);
        }
      },
    ),
    tries(160),
  );
  expect(Math.min(seen.own, seen.none)).toBeGreaterThan(500);
});

it('beside an id of the answer itself, the one in its result is found as soon as it is there, and from then on', () => {
  const seen = { own: 0, beside: 0 };
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 30, maxLength: 30 });
  const input = fc.record({
    payment: record,
    other: fc.uuid(),
    isFirst: fc.boolean(),
    write: fc.constantFrom(...WRITTEN),
  });
  fc.assert(
    fc.property(input, cuts, ({ payment, other, isFirst, write }, cuts) => {
      const text = write(isFirst ? { id: other, result: payment } : { result: payment, id: other });
      expect(findPaymentId(text)).toBe(payment.id);
      // One of them behind the first id, if that is the other.
      const lengths = [50, ...cuts.map(cut => Math.floor(cut * text.length))].sort((a, b) => a - b);
      const found = lengths.map(length => findPaymentId(text.slice(0, length)));
      const first = found.indexOf(payment.id);
      // Before that, the answer may be a record that is not wrapped, whose own id this would be.
      const before = new Set(found.slice(0, first === -1 ? undefined : first));
      expect([...before].filter(id => id !== undefined)).toEqual(isFirst && before.has(other) ? [other] : []);
      if (first !== -1) expect(new Set(found.slice(first))).toEqual(new Set([payment.id]));
      seen.own += first === -1 ? 0 : 1;
      seen.beside += before.has(other) ? 1 : 0;
    }),
    tries(120),
  );
  expect(Math.min(seen.own, seen.beside)).toBeGreaterThan(50);
});
