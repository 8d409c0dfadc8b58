// The gateway, and what becomes of its callbacks.
import type { ClientOptions } from 'payment-gateway-sdk';
import { createWebhookHandler, GatewayClient, isFinal, isPaid, rawStatusOf } from 'payment-gateway-sdk';
import { fromPostgresJs, postgresInbox, postgresJournal } from 'payment-gateway-sdk/postgres';
import { sql } from './database.ts';

/** @param options address and keys; without them, they come from the environment */
export function openPayments(options: ClientOptions = {}) {
  const database = fromPostgresJs(sql);
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
        const { count } = await tx`update orders set paid_by = ${id}
          where reference = ${reference ?? ''} and amount = ${amount} and currency = ${currency} and paid_by is null`;
        if (count === 1) return;
      } else if (isFinal(payment)) {
        const { count } = await tx`select from orders where paid_by = ${id}
          union all select from to_check where payment_id = ${id}`;
        if (count === 0) return; // declined, as cards are
      } else if (payment.paymentStatus !== 'UNKNOWN') return;
      // Another amount, paid by another attempt, no order; a chargeback; or a status that the document does not have.
      await tx`insert into to_check values (${id}, ${status})`;
    },
    onError: error => console.error(error),
  });
  return { journal, inbox, gateway, handler };
}
