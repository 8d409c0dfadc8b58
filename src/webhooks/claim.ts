// The claim of a callback: its reading, its digest while it waits, and its comparison with the gateway's record.
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Payment } from '../schemas/payment.ts';
import { rawStatusOf } from '../schemas/payment-status.ts';
import { recordIn } from '../schemas/response.ts';
import { statusMark } from '../store/outcomes.ts';
import { invalidCallback, readable, readBody } from './parse.ts';

/** Requires only the id, because the callbacks of withdrawals and on-ramp payments are not documented. */
const claimSchema: z.ZodType<{ id: string; [field: string]: unknown }> = z.looseObject({ id: z.guid() });

const COMPARED = ['amount', 'currency', 'paymentType', 'reference'] as const;
type Compared = (typeof COMPARED)[number];

/** The digest of a claim while its callback waits, as small for a body of 256 KiB as for one of 300 bytes. */
export interface ClaimDigest {
  /** In lower case. */
  paymentId: string;
  /** In upper case, or empty without a claimed status. */
  status: string;
  /** The claimed fields to compare with the record. */
  fields: Partial<Record<Compared, string>>;
}

/** Reads a claim, also from `result`: a hint. @throws {WebhookError} `not_json`, or `invalid` if `id` is not a UUID */
export function readClaim(rawBody: unknown): ClaimDigest {
  const { success, data: claim, error } = readable(() => claimSchema.safeParse(recordIn(readBody(rawBody))));
  if (!success) throw invalidCallback(error);
  const fields: ClaimDigest['fields'] = {};
  for (const name of COMPARED) {
    const text = textOf(name, claim[name]);
    if (text) fields[name] = text;
  }
  const { paymentStatus } = claim;
  const status = typeof paymentStatus === 'string' ? comparable(paymentStatus) : '';
  return { paymentId: claim.id.toLowerCase(), status, fields };
}

/** Returns the claimed fields that differ from the record. */
export const mismatchesOf = ({ fields }: ClaimDigest, payment: Payment): string[] =>
  COMPARED.filter(name => fields[name] !== undefined && fields[name] !== textOf(name, payment[name]));

/** Returns whether the record does not show the claimed status yet. */
export function isBehind(payment: Payment, { status: claimed }: ClaimDigest): boolean {
  const recorded = comparable(rawStatusOf(payment));
  if (!claimed || claimed === recorded || claimed === 'PENDING') return false;
  return claimed !== 'AUTHORIZED' || recorded === 'PENDING';
}

/** Returns whether the claimed status is among those that took effect. */
export const isHandled = ({ status }: ClaimDigest, handled: readonly string[]): boolean =>
  handled.some(one => comparable(one) === status);

/** Returns a comparable status: both spellings of canceled are the same. */
function comparable(text: string): string {
  const status = statusMark(text.trim()).toUpperCase();
  return status === 'CANCELLED' ? 'CANCELED' : status;
}

/** Returns a field as text: an amount by its value, everything else as written. */
function textOf(name: Compared, value: unknown): string {
  if (value === undefined || value === null) return '';
  // No field of a record is an object. Writing one as text could take seconds: it may be nested 40,000 deep.
  if (typeof value === 'object') return 'an object';
  const text = String(value);
  return short(name === 'amount' && text.trim() && !Number.isNaN(Number(text)) ? String(Number(text)) : text);
}

const LONGEST = 64;

/** Replaces a long text by its hash, because only equality counts. */
const short = (text: string): string =>
  text.length <= LONGEST ? text : createHash('sha256').update(text).digest('hex');
