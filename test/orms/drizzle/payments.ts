// The gateway, and what becomes of its callbacks.
import { and, eq, isNull } from 'drizzle-orm';
import type { ClientOptions } from 'payment-gateway-sdk';
import { createWebhookHandler, GatewayClient, isFinal, isPaid, rawStatusOf } from 'payment-gateway-sdk';
import { fromDrizzle, postgresInbox, postgresJournal } from 'payment-gateway-sdk/postgres';
import { db, orders, toCheck } from './database.ts';

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
      const { id, reference, amount, currency } = payment;
      const status = rawStatusOf(payment);
      if (payment.paymentType === 'WITHDRAWAL') throw new Error('Record it here, as docs/payouts.md does');
      if (isPaid(payment)) {
        const isIt = and(
          eq(orders.reference, reference ?? ''),
          eq(orders.amount, String(amount)),
          eq(orders.currency, currency),
          isNull(orders.paidBy),
        );
        const { rowCount } = await tx.update(orders).set({ paidBy: id }).where(isIt);
        if (rowCount === 1) return;
      } else if (isFinal(payment)) {
        const paid = await tx.$count(orders, eq(orders.paidBy, id));
        if (paid + (await tx.$count(toCheck, eq(toCheck.paymentId, id))) === 0) return; // declined, as cards are
      } else if (payment.paymentStatus !== 'UNKNOWN') return;
      // Another amount, paid by another attempt, no order; a chargeback; or a status that the document does not have.
      await tx.insert(toCheck).values({ paymentId: id, status });
    },
    onError: error => console.error(error),
  });
  return { journal, inbox, gateway, handler };
}
