// The gateway, and what becomes of its callbacks.
import type { ClientOptions } from 'payment-gateway-sdk';
import { createWebhookHandler, GatewayClient, isFinal, isPaid, rawStatusOf } from 'payment-gateway-sdk';
import { fromKnex, postgresInbox, postgresJournal } from 'payment-gateway-sdk/postgres';
import { db } from './database.ts';

/** @param options address and keys; without them, they come from the environment */
export function openPayments(options: ClientOptions = {}) {
  const database = fromKnex(db);
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
        const count = await tx('orders')
          .where({ reference: reference ?? '', amount: String(amount), currency, paid_by: null })
          .update({ paid_by: id });
        if (count === 1) return;
      } else if (isFinal(payment)) {
        const paid = await tx('orders').where({ paid_by: id });
        const listed = await tx('to_check').where({ payment_id: id });
        if (paid.length + listed.length === 0) return; // declined, as cards are
      } else if (payment.paymentStatus !== 'UNKNOWN') return;
      // Another amount, paid by another attempt, no order; a chargeback; or a status that the document does not have.
      await tx('to_check').insert({ payment_id: id, status });
    },
    onError: error => console.error(error),
  });
  return { journal, inbox, gateway, handler };
}
