// A callback's claim: the payment and the status that it names. Only a hint, because anyone can post one.
import * as z from 'zod';
import type { Payment } from '../schemas/records/payment.ts';
import { progressOf, rawStatusOf } from '../schemas/records/payment-status.ts';
import { recordIn } from '../schemas/records/response.ts';
import { contentOf, readBody } from './parse.ts';

/** Requires only the id: callbacks of withdrawals and on-ramp payments are not documented. */
const claimSchema = z.object({
  id: z.guid().toLowerCase(),
  /** In upper case. A longer text counts as absent, so that waiting callbacks take little memory. */
  paymentStatus: z.string().max(1_020).catch('').transform(comparable),
});
export type Claim = z.output<typeof claimSchema>;

/** Reads a claim, also from `result`. @throws {WebhookError} `not_json`, or `invalid` if `id` is not a UUID */
export function readClaim(rawBody: unknown): Claim {
  return contentOf(claimSchema.safeParse(recordIn(readBody(rawBody))));
}

/** Whether the record shows the claimed status, or a later one. */
export function isShown(payment: Payment, { paymentStatus: claimed }: Claim): boolean {
  const recorded = comparable(rawStatusOf(payment));
  return !claimed || claimed === recorded || progressOf(claimed) < progressOf(recorded);
}

/** Both spellings of canceled are the same status. */
function comparable(text: string): string {
  const status = text.trim().toUpperCase();
  return status === 'CANCELLED' ? 'CANCELED' : status;
}
