// The gateway, and what becomes of its callbacks.
import type { ClientOptions } from 'payment-gateway-sdk';
import { createWebhookHandler, GatewayClient, isFinal, isPaid, rawStatusOf } from 'payment-gateway-sdk';
import { fromKysely, postgresInbox, postgresJournal } from 'payment-gateway-sdk/postgres';
import { db } from './database.ts';

/** @param options address and keys; without them, they come from the environment */
export function openPayments(options: ClientOptions = {}) {
  const database = fromKysely(db);
  const journal = postgresJournal(database, { scope: 'eu-terminal' });
  const inbox = postgresInbox(database);
  const gateway = new GatewayClient({ ...options, journal });
  const handler = createWebhookHandler({
    gateway,
    inbox,
    onPayment: async (payment, { tx }) => {
      const { id, reference, amount, currency } = payment;
      const status = rawStatusOf(payment);
      if (payment.paymentType === 'WITHDRAWAL') throw new Error('Record it here, as docs/payouts.md does');
      if (isPaid(payment)) {
        const { numUpdatedRows } = await tx
          .updateTable('orders')
          .set({ paid_by: id })
          .where('reference', '=', reference ?? '')
          .where('amount', '=', String(amount))
          .where('currency', '=', currency)
          .where('paid_by', 'is', null)
          .executeTakeFirst();
        if (numUpdatedRows === 1n) return;
      } else if (isFinal(payment)) {
        const paid = await tx.selectFrom('orders').selectAll().where('paid_by', '=', id).execute();
        const listed = await tx.selectFrom('to_check').selectAll().where('payment_id', '=', id).execute();
        if (paid.length + listed.length === 0) return; // declined, as cards are
      } else if (payment.paymentStatus !== 'UNKNOWN') return;
      // Another amount, paid by another attempt, no order; a chargeback; or a status that the document does not have.
      await tx.insertInto('to_check').values({ payment_id: id, status }).execute();
    },
    onError: error => console.error(error),
  });
  return { journal, inbox, gateway, handler };
}
