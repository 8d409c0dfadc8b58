// The gateway, and what becomes of its callbacks.
import { type ClientOptions, createWebhookHandler, GatewayClient, isPaid } from 'payment-gateway-sdk';
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
      if (payment.paymentType !== 'DEPOSIT' || !isPaid(payment)) return; // payouts, chargebacks: docs/callbacks.md
      const { id, reference, amount, currency } = payment;
      const { count } = await tx.order.updateMany({
        where: { reference: reference ?? '', amount, currency, paidBy: null },
        data: { paidBy: id },
      });
      if (count === 0) console.error('To check: a payment that no open order has asked for.', id);
    },
  });
  return { journal, inbox, gateway, handler };
}
