// The gateway, and what becomes of its callbacks.
import type { ClientOptions } from 'payment-gateway-sdk';
import { createWebhookHandler, GatewayClient, isFinal, isPaid, rawStatusOf } from 'payment-gateway-sdk';
import { fromPrisma, postgresInbox, postgresJournal } from 'payment-gateway-sdk/postgres';
import { prisma } from './database.ts';

/** @param options address and keys; without them, they come from the environment */
export function openPayments(options: ClientOptions = {}) {
  const database = fromPrisma(prisma);
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
        const { count } = await tx.order.updateMany({
          where: { reference: reference ?? '', amount, currency, paidBy: null },
          data: { paidBy: id },
        });
        if (count === 1) return;
      } else if (isFinal(payment)) {
        const paid = await tx.order.count({ where: { paidBy: id } });
        const listed = await tx.toCheck.count({ where: { paymentId: id } });
        if (paid + listed === 0) return; // declined, as cards are
      } else if (payment.paymentStatus !== 'UNKNOWN') return;
      // Another amount, paid by another attempt, no order; a chargeback; or a status that the document does not have.
      await tx.toCheck.create({ data: { paymentId: id, status } });
    },
    onError: error => console.error(error),
  });
  return { journal, inbox, gateway, handler };
}
