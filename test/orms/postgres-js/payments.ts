// The gateway, and what becomes of its callbacks.
import { type ClientOptions, createWebhookHandler, GatewayClient, isPaid } from 'payment-gateway-sdk';
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
      if (payment.paymentType !== 'DEPOSIT' || !isPaid(payment)) return; // payouts, chargebacks: docs/callbacks.md
      const { id, reference, amount, currency } = payment;
      const { count } = await tx`update orders set paid_by = ${id}
        where reference = ${reference ?? ''} and amount = ${amount} and currency = ${currency} and paid_by is null`;
      if (count === 0) console.error('To check: a payment that no open order has asked for.', id);
    },
  });
  return { journal, inbox, gateway, handler };
}
