// A merchant's own schemas around ours: the build carries a zod of its own inside.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import * as esm from 'payment-gateway-sdk';
import * as z from 'zod';
import { request as card, record as pending } from './merchant.mjs';

const record = { ...pending, crypto_fx: '1.25' };
const request = { paymentType: 'DEPOSIT', ...card };

for (const sdk of [esm, createRequire(import.meta.url)('payment-gateway-sdk')]) {
  const order = z.object({
    number: z.int(),
    payments: z.array(sdk.paymentSchema).min(1),
    next: sdk.depositSchema.optional(),
  });
  const read = order.parse({ number: 7, payments: [record], next: request });
  assert.deepEqual(read.payments, [{ ...record, crypto_fx: 1.25 }]);
  assert.deepEqual(read.next, request);

  const wrong = { number: 7, payments: [{ ...record, amount: 'x' }], next: { amount: -1 } };
  const { success, error } = order.safeParse(wrong);
  assert(!success && error instanceof z.ZodError);
  assert.deepEqual(error.issues.map(({ path }) => path.join('.')).slice(0, 2), [
    'payments.0.amount',
    'next.paymentMethod',
  ]);
  const id = sdk.paymentSchema.transform(payment => payment.id);
  assert.equal(id.parse(record), record.id);
  assert.throws(() => id.parse({ ...record, amount: 'x' }), z.ZodError);
  assert.equal(z.compile(order).parse({ number: 7, payments: [record] }).payments[0].id, record.id);
}
console.log('consumer: done');
