// The gateway, and what becomes of its callbacks.
import { type ClientOptions, createWebhookHandler, GatewayClient, isPaid } from 'payment-gateway-sdk';
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
      if (payment.paymentType !== 'DEPOSIT' || !isPaid(payment)) return; // payouts, chargebacks: docs/callbacks.md
      const { numUpdatedRows } = await tx
        .updateTable('orders')
        .set({ paid_by: payment.id })
        .where('reference', '=', payment.reference ?? '')
        .where('amount', '=', String(payment.amount))
        .where('currency', '=', payment.currency)
        .where('paid_by', 'is', null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) console.error('To check: a payment that no open order has asked for.', payment.id);
    },
  });
  return { journal, inbox, gateway, handler };
}
