// The two shapes of an answer: `{ result: record, …transfer fields }`, and the record alone.
import { type Issue, issuesOf } from '../../errors.ts';
import { isPaymentId, isSamePayment } from '../id.ts';
import { isJsonMap } from '../json.ts';
import { type Payment, parsePayment } from './payment.ts';
import { TRANSFER_FIELDS, type Transfer, transferSchema } from './transfer.ts';

export interface Envelope {
  payment: Payment;
  transfer?: Transfer | undefined;
}

/** Returns the record of a body: its `result`, unless that is a plain field next to the record's own id. */
export function recordIn(body: unknown): unknown {
  if (!isJsonMap(body) || !Object.hasOwn(body, 'result')) return body;
  const { result, id } = body as { result: unknown; id?: unknown };
  return isPaymentId(id) && !isJsonMap(result) ? body : result;
}

export function readEnvelope(answer: unknown): Envelope | Issue[] {
  const record = recordIn(answer);
  const { success, data: payment, error } = parsePayment(record);
  if (!success) return issuesOf(error);
  // Only next to `result`, because a record has an `amount` too.
  const hasTransfer = record !== answer && TRANSFER_FIELDS.some(field => Object.hasOwn(Object(answer), field));
  if (!hasTransfer) return { payment };
  const transfer = transferSchema.parse(answer);
  const isIts = transfer.order_id == null || isSamePayment(transfer.order_id, payment.id);
  return isIts ? { payment, transfer } : [{ path: 'order_id', message: 'belongs to another payment than result.id' }];
}
