// The gateway, and what becomes of its callbacks.
import { and, eq, isNull } from 'drizzle-orm';
import { type ClientOptions, createWebhookHandler, GatewayClient, isPaid } from 'payment-gateway-sdk';
import { fromDrizzle, postgresInbox, postgresJournal } from 'payment-gateway-sdk/postgres';
import { db, orders } from './database.ts';

/** @param options address and keys; without them, they come from the environment */
export function openPayments(options: ClientOptions = {}) {
  const database = fromDrizzle(db);
  const journal = postgresJournal(database, { scope: 'eu-terminal' });
  const inbox = postgresInbox(database);
  const gateway = new GatewayClient({ ...options, journal });
  const handler = createWebhookHandler({
    gateway,
    inbox,
    onPayment: async (payment, { tx }) => {
      if (payment.paymentType !== 'DEPOSIT' || !isPaid(payment)) return;
      await tx
        .update(orders)
        .set({ paidBy: payment.id })
        .where(and(eq(orders.reference, payment.reference ?? ''), isNull(orders.paidBy)));
    },
  });
  return { journal, inbox, gateway, handler };
}
