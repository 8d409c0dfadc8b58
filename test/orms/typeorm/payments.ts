// The gateway, and what becomes of its callbacks.
import { type ClientOptions, createWebhookHandler, GatewayClient, isPaid } from 'payment-gateway-sdk';
import { fromTypeOrm, postgresInbox, postgresJournal } from 'payment-gateway-sdk/postgres';
import { IsNull } from 'typeorm';
import { dataSource, Order } from './database.ts';

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
      if (payment.paymentType !== 'DEPOSIT' || !isPaid(payment)) return; // payouts, chargebacks: docs/callbacks.md
      const { id, reference, amount, currency } = payment;
      const isIt = { reference: reference ?? '', amount: String(amount), currency, paidBy: IsNull() };
      const { affected } = await tx.update(Order, isIt, { paidBy: id });
      if (affected === 0) console.error('To check: a payment that no open order has asked for.', id);
    },
  });
  return { journal, inbox, gateway, handler };
}
