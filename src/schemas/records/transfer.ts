// PayID host-to-host transfer instructions: fields next to `result` in the answer to a create.
import * as z from 'zod';
import { each, type FieldsOf } from '../fields-of.ts';
import { text } from './payment.ts';

/** The data that the customer needs to pay by PayID. Every field may be null. */
export interface Transfer {
  /** The PayID address to pay to. Without it, there is nothing to show. */
  number?: string | null | undefined;
  /** Name of the holder of the receiving account. */
  full_holder_name?: string | null | undefined;
  /** The code that the customer attaches to the transfer. */
  payment_description?: string | null | undefined;
  /** Amount to transfer: text with two decimals, in units of `currency`. */
  amount?: string | null | undefined;
  /** Currency code of `amount`. */
  currency?: string | null | undefined;
  /** Id of this instruction, not of the payment. */
  uuid?: string | null | undefined;
  /** The payment's id. */
  order_id?: string | null | undefined;
}

const fields = each(
  ['number', 'full_holder_name', 'payment_description', 'amount', 'currency', 'uuid', 'order_id'],
  text,
) satisfies FieldsOf<Transfer>;

export const TRANSFER_FIELDS = Object.keys(fields);

/** The schema of a {@link Transfer}, which drops unknown fields. */
export const transferSchema: z.ZodType<Transfer> = z.object(fields);
