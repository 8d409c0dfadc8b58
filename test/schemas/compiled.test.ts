import { deepEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { paymentSchema } from 'payment-gateway-sdk';
import { expect, it, vi } from 'vitest';
import * as z from 'zod';
import { compiledWhenBusy } from '../../src/schemas/compiled.ts';
import { tries } from '../properties/arbitraries.ts';
import { record } from '../support/fixtures.ts';

const completed = JSON.parse(record('completed lookup'));

/** A function that has compiled the schema. */
function busy() {
  const parse = compiledWhenBusy(paymentSchema);
  for (let count = 0; count < 1_000; count++) parse(completed.result);
  expect(parse(completed.result).success).toBe(true);
  return parse;
}

/** A record in which some fields were replaced by anything, removed or added. */
const drifted = (fields: object) =>
  fc
    .dictionary(
      fc.constantFrom(...Object.keys(fields), 'paymentStatus', 'crypto_fx', 'customer', 'unknown'),
      fc.jsonValue(),
    )
    .map(changes => ({ ...fields, ...changes }));

it('reads a record that drifted as it did before it was compiled', { tags: 'long' }, () => {
  const parse = busy();
  fc.assert(
    fc.property(drifted(completed.result), value => {
      const [before, after] = [paymentSchema.safeParse(value), parse(value)];
      deepEqual([after.success, after.data, after.error?.issues], [before.success, before.data, before.error?.issues]);
    }),
    tries(300),
  );
});

it('is compiled at its thousandth parse, and into something else', { tags: 'long' }, () => {
  const slow = vi.spyOn(paymentSchema._zod, 'run');
  const parse = compiledWhenBusy(paymentSchema);
  for (let count = 1; count <= 1010; count++) parse(completed.result);
  expect(slow).toHaveBeenCalledTimes(999);
  // What zod cannot compile it hands back as it was.
  expect(z.compile(paymentSchema)).not.toBe(paymentSchema);
});
