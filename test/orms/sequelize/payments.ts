// The gateway, and what becomes of its callbacks.
import type { ClientOptions } from 'payment-gateway-sdk';
import { createWebhookHandler, GatewayClient, isFinal, isPaid, rawStatusOf } from 'payment-gateway-sdk';
import { postgresInbox, postgresJournal } from 'payment-gateway-sdk/postgres';
import { Order, sequelize } from './database.ts';
import { fromSequelize } from './from-sequelize.ts';

const KNOWN = 'select 1 from orders where paid_by = $1 union all select 1 from to_check where payment_id = $1';

/** @param options address and keys; without them, they come from the environment */
export function openPayments(options: ClientOptions = {}) {
  const database = fromSequelize(sequelize, 10);
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
        const where = { reference: reference ?? '', amount, currency, paidBy: null };
        const [count] = await Order.update({ paidBy: id }, { where, transaction: tx });
        if (count === 1) return;
      } else if (isFinal(payment)) {
        const [known] = await sequelize.query(KNOWN, { bind: [id], transaction: tx });
        if (known.length === 0) return; // declined, as cards are
      } else if (payment.paymentStatus !== 'UNKNOWN') return;
      // Another amount, paid by another attempt, no order; a chargeback; or a status that the document does not have.
      await sequelize.query('insert into to_check values ($1, $2)', { bind: [id, status], transaction: tx });
    },
    onError: error => console.error(error),
  });
  return { journal, inbox, gateway, handler };
}
