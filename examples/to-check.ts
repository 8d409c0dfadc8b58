// The list of what a person must look at: a payment that changes nothing of yours, or takes back what it had changed.
import { type Payment, rawStatusOf } from 'payment-gateway-sdk';
import type { ClientBase } from 'pg';

/** What `onPayment` gets of `postgresInbox(pool)`. */
export type Tx = Pick<ClientBase, 'query'>;

export const SCHEMA = `
  create table if not exists to_check (payment_id uuid, status text, payment_type text not null, reference text,
    amount numeric not null, currency text not null, primary key (payment_id, status))`;

const LIST = 'insert into to_check values ($1, $2, $3, $4, $5, $6) on conflict do nothing';

/** In the transaction of the callback's mark: what is marked is done, so what is not listed is forgotten. Set an alert on it. */
export async function listToCheck(tx: Tx, payment: Payment): Promise<void> {
  const { id, paymentType, reference, amount, currency } = payment;
  await tx.query(LIST, [id, rawStatusOf(payment), paymentType, reference, amount, currency]);
}
