// The two shapes of an answer: `{ result: record, …transfer fields }`, and the record alone.
import * as z from 'zod';
import { type Payment, paymentSchema } from './payment.ts';
import { TRANSFER_FIELDS, type Transfer, transferSchema } from './transfer.ts';

/** An answer of the gateway, wrapped or not. */
export interface Envelope {
  payment: Payment;
  /** PayID transfer instructions, if the answer has any. */
  transfer?: Transfer | undefined;
}

/** Distinguished by the `result` key, so that the transfer's `amount` (text) never mixes with the record's. */
function unwrap(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || !Object.hasOwn(answer, 'result')) {
    return { payment: answer };
  }
  const hasTransfer = TRANSFER_FIELDS.some(field => Object.hasOwn(answer, field));
  return { payment: (answer as { result: unknown }).result, ...(hasTransfer && { transfer: answer }) };
}

/** The schema of an {@link Envelope}: takes an answer as the gateway writes it. */
export const envelopeSchema: z.ZodType<Envelope> = z.preprocess(
  unwrap,
  z
    .object({ payment: paymentSchema, transfer: transferSchema.optional() })
    .refine(
      ({ payment, transfer }) =>
        transfer?.order_id == null || transfer.order_id.toLowerCase() === payment.id.toLowerCase(),
      { error: 'belongs to another payment than result.id', path: ['transfer', 'order_id'] },
    ),
);
