// The list for an operator: payments that change none of your data, or that take back an earlier change.
import { type Payment, rawStatusOf } from 'payment-gateway-sdk';
import type { ClientBase } from 'pg';

/** The transaction that `onPayment` gets from `postgresInbox(pool)`. */
export type Tx = Pick<ClientBase, 'query'>;

export const SCHEMA = `
  create table if not exists to_check (payment_id uuid, status text, payment_type text not null, reference text,
    amount numeric not null, currency text not null, primary key (payment_id, status))`;

const LIST = 'insert into to_check values ($1, $2, $3, $4, $5, $6) on conflict do nothing';

/** Lists a payment in the transaction that marks its callback as done, so that it is kept. Set an alert on it. */
export async function listToCheck(tx: Tx, payment: Payment): Promise<void> {
  const { id, paymentType, reference, amount, currency } = payment;
  await tx.query(LIST, [id, rawStatusOf(payment), paymentType, reference, amount, currency]);
}
