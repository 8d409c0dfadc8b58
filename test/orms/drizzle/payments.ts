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
      if (payment.paymentType !== 'DEPOSIT' || !isPaid(payment)) return; // payouts, chargebacks: docs/callbacks.md
      const { id, reference, amount, currency } = payment;
      const isIt = and(
        eq(orders.reference, reference ?? ''),
        eq(orders.amount, String(amount)),
        eq(orders.currency, currency),
        isNull(orders.paidBy),
      );
      const { rowCount } = await tx.update(orders).set({ paidBy: id }).where(isIt);
      if (rowCount === 0) console.error('To check: a payment that no open order has asked for.', id);
    },
  });
  return { journal, inbox, gateway, handler };
}
