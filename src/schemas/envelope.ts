// The two shapes of an answer: `{ result: record, …transfer fields }`, and the record alone.
import * as z from 'zod';
import { paymentSchema } from './payment.ts';
import { transferSchema } from './transfer.ts';

const TRANSFER_FIELDS = Object.keys(transferSchema.shape);

/** Told apart by the `result` key, so that the transfer's `amount` (text) never mixes with the record's. */
function open(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || !Object.hasOwn(answer, 'result')) {
    return { payment: answer };
  }
  const hasTransfer = TRANSFER_FIELDS.some(field => Object.hasOwn(answer, field));
  return { payment: (answer as { result: unknown }).result, ...(hasTransfer && { transfer: answer }) };
}

/** An answer of the gateway, wrapped or not: the payment, and the PayID transfer instructions if it holds any. */
export const envelopeSchema = z.preprocess(
  open,
  z
    .object({ payment: paymentSchema, transfer: transferSchema.optional() })
    .refine(
      ({ payment, transfer }) =>
        transfer?.order_id == null || transfer.order_id.toLowerCase() === payment.id.toLowerCase(),
      { error: 'belongs to another payment than result.id', path: ['transfer', 'order_id'] },
    ),
);

export type Envelope = z.output<typeof envelopeSchema>;
