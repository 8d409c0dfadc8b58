// The claim of a callback: its reading, and its comparison with the gateway's record.
import * as z from 'zod';
import { number, type Payment, text } from '../schemas/records/payment.ts';
import { rawStatusOf } from '../schemas/records/payment-status.ts';
import { recordIn } from '../schemas/records/response.ts';
import { invalidCallback, readBody } from './parse.ts';

/** Characters. A longer text counts as absent, so that waiting callbacks take little memory. */
const LONGEST = 1_020;
const short = text.refine(value => !value || value.length <= LONGEST).catch(undefined);

const COMPARED = ['amount', 'currency', 'paymentType', 'reference'] as const;

/** Requires only the id, because the callbacks of withdrawals and on-ramp payments are not documented. */
const claimSchema = z.object({
  id: z.guid().toLowerCase(),
  /** In upper case, or empty without a claimed status. */
  paymentStatus: z.string().max(LONGEST).catch('').transform(comparable),
  amount: number,
  currency: short,
  paymentType: short,
  reference: short,
});
export type Claim = z.output<typeof claimSchema>;

/** Reads a claim, also from `result`: a hint. @throws {WebhookError} `not_json`, or `invalid` if `id` is not a UUID */
export function readClaim(rawBody: unknown): Claim {
  const { success, data, error } = claimSchema.safeParse(recordIn(readBody(rawBody)));
  if (!success) throw invalidCallback(error);
  return data;
}

/** Returns the claimed fields that differ from the record. */
export const mismatchesOf = (claim: Claim, payment: Payment): string[] =>
  COMPARED.filter(name => (claim[name] ?? '') !== '' && claim[name] !== payment[name]);

/** Returns whether the record does not show the claimed status yet. */
export function isBehind(payment: Payment, { paymentStatus: claimed }: Claim): boolean {
  const recorded = comparable(rawStatusOf(payment));
  if (!claimed || claimed === recorded || claimed === 'PENDING') return false;
  return claimed !== 'AUTHORIZED' || recorded === 'PENDING';
}

/** Returns whether the claimed status is among those that took effect. */
export const isHandled = ({ paymentStatus }: Claim, handled: readonly string[]): boolean =>
  handled.some(one => comparable(one) === paymentStatus);

/** Returns a comparable status: both spellings of canceled are the same. */
function comparable(text: string): string {
  const status = text.trim().toUpperCase();
  return status === 'CANCELLED' ? 'CANCELED' : status;
}
