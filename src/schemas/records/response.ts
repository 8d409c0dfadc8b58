// The two shapes of an answer: `{ result: record, …transfer fields }`, and the record alone.
import * as z from 'zod';
import { isPaymentId, isSamePayment } from '../id.ts';
import { isJsonMap } from '../json.ts';
import { type Payment, paymentSchema } from './payment.ts';
import { TRANSFER_FIELDS, type Transfer, transferSchema } from './transfer.ts';

/** An answer of the gateway, wrapped or not. */
export interface Envelope {
  payment: Payment;
  /** PayID transfer instructions, if the answer has any. */
  transfer?: Transfer | undefined;
}

/** Returns the record of a body: its `result`, unless that is a plain field next to the record's own id. */
export function recordIn(body: unknown): unknown {
  if (!isJsonMap(body) || !Object.hasOwn(body, 'result')) return body;
  const { result, id } = body as { result: unknown; id?: unknown };
  return isPaymentId(id) && !isJsonMap(result) ? body : result;
}

/** Separates the transfer, so that its `amount` (text) never mixes with the record's. */
function unwrap(answer: unknown): unknown {
  const payment = recordIn(answer);
  const hasTransfer = payment !== answer && TRANSFER_FIELDS.some(field => Object.hasOwn(Object(answer), field));
  return { payment, ...(hasTransfer && { transfer: answer }) };
}

export const envelopeSchema: z.ZodType<Envelope> = z.preprocess(
  unwrap,
  z
    .object({ payment: paymentSchema, transfer: transferSchema.optional() })
    .refine(({ payment, transfer }) => transfer?.order_id == null || isSamePayment(transfer.order_id, payment.id), {
      error: 'belongs to another payment than result.id',
      path: ['transfer', 'order_id'],
    }),
);
