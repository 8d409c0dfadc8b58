import { deepEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import * as z from 'zod';
import { tries } from '../properties/arbitraries.ts';
import { record } from '../support/fixtures.ts';

const completed = JSON.parse(record('completed lookup'));

/** A record in which some fields were replaced by anything, removed or added. */
const drifted = (fields: object) =>
  fc
    .dictionary(
      fc.constantFrom(...Object.keys(fields), 'paymentStatus', 'crypto_fx', 'customer', 'unknown'),
      fc.jsonValue(),
    )
    .map(changes => ({ ...fields, ...changes }));

it('a record is compiled at its thousandth parse, and then read as before', { tags: 'long' }, async () => {
  vi.resetModules();
  const { parsePayment, paymentSchema } = await import('../../src/schemas/records/payment.ts');
  const slow = vi.spyOn(paymentSchema._zod, 'run');
  for (let count = 1; count <= 1010; count++) expect(parsePayment(completed.result).success).toBe(true);
  expect(slow).toHaveBeenCalledTimes(999);
  slow.mockRestore();
  fc.assert(
    fc.property(drifted(completed.result), value => {
      const [before, after] = [paymentSchema.safeParse(value), parsePayment(value)];
      deepEqual([after.success, after.data, after.error?.issues], [before.success, before.data, before.error?.issues]);
    }),
    tries(300),
  );
  // What zod cannot compile it hands back as it was.
  expect(z.compile(paymentSchema)).not.toBe(paymentSchema);
});
