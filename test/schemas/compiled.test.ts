import { deepEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { type Payment, paymentSchema } from 'payment-gateway-sdk';
import { expect, it, vi } from 'vitest';
import * as z from 'zod';
import { compiledWhenBusy } from '../../src/schemas/compiled.ts';
import { envelopeSchema } from '../../src/schemas/records/response.ts';
import { tries } from '../properties/arbitraries.ts';
import { record } from '../support/fixtures.ts';

const completed = JSON.parse(record('completed lookup'));
const created = JSON.parse(record('created card deposit'));

/** A function that has compiled the schema. */
function busy<T>(...[schema, valid]: [Parameters<typeof compiledWhenBusy<T>>[0], unknown]) {
  const parse = compiledWhenBusy(schema);
  for (let count = 0; count < 1_000; count++) parse(valid);
  expect(parse(valid).success).toBe(true);
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

it.each([
  ['a record', paymentSchema, completed.result ?? completed],
  ['an answer', envelopeSchema, created],
])('reads %s that drifted as it did before it was compiled', { tags: 'long' }, (_, schema, valid) => {
  const parse = busy<Payment | unknown>(schema as typeof paymentSchema, valid);
  fc.assert(
    fc.property(drifted(valid), value => {
      const [before, after] = [schema.safeParse(value), parse(value)];
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
  expect(z.compile(envelopeSchema)).not.toBe(envelopeSchema);
});
