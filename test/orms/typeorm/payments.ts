// The gateway, and what becomes of its callbacks.
import type { ClientOptions } from 'payment-gateway-sdk';
import { createWebhookHandler, GatewayClient, isFinal, isPaid, rawStatusOf } from 'payment-gateway-sdk';
import { fromTypeOrm, postgresInbox, postgresJournal } from 'payment-gateway-sdk/postgres';
import { IsNull } from 'typeorm';
import { dataSource, Order, ToCheck } from './database.ts';

/** @param options address and keys; without them, they come from the environment */
export function openPayments(options: ClientOptions = {}) {
  const database = fromTypeOrm(dataSource);
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
        const isIt = { reference: reference ?? '', amount: String(amount), currency, paidBy: IsNull() };
        const { affected } = await tx.update(Order, isIt, { paidBy: id });
        if (affected === 1) return;
      } else if (isFinal(payment)) {
        const paid = await tx.countBy(Order, { paidBy: id });
        const listed = await tx.countBy(ToCheck, { paymentId: id });
        if (paid + listed === 0) return; // declined, as cards are
      } else if (payment.paymentStatus !== 'UNKNOWN') return;
      // Another amount, paid by another attempt, no order; a chargeback; or a status that the document does not have.
      await tx.insert(ToCheck, { paymentId: id, status });
    },
    onError: error => console.error(error),
  });
  return { journal, inbox, gateway, handler };
}
