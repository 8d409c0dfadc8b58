// PayID host-to-host transfer instructions: seven fields that stand beside `result` in a create's answer.
import type * as z from 'zod';
import { only } from './objects.ts';
import { text } from './payment.ts';

/** What the customer needs to pay by PayID. Every field may be null. */
export const transferSchema = only({
  /** The PayID address to pay to. Without it there is nothing to show the customer. */
  number: text,
  /** Name of the receiving account's holder. */
  full_holder_name: text,
  /** The code that the customer attaches to the transfer. */
  payment_description: text,
  /** Amount to transfer: text with two decimals, in units of `currency`. */
  amount: text,
  currency: text,
  /** Id of this transfer instruction; not the payment's. */
  uuid: text,
  /** The payment's id. */
  order_id: text,
});

export type Transfer = z.output<typeof transferSchema>;
