// The gateway, and what becomes of its callbacks.
import type { ResultSetHeader } from 'mysql2';
import { type ClientOptions, createWebhookHandler, GatewayClient, isPaid } from 'payment-gateway-sdk';
import { mysqlInbox, mysqlJournal } from 'payment-gateway-sdk/mysql';
import { pool } from './database.ts';

/** @param options address and keys; without them, they come from the environment */
export function openPayments(options: ClientOptions = {}) {
  const journal = mysqlJournal(pool, { scope: 'eu-terminal' });
  const inbox = mysqlInbox(pool);
  const gateway = new GatewayClient({ ...options, journal });
  const handler = createWebhookHandler({
    gateway,
    inbox,
    onPayment: async (payment, { tx }) => {
      if (payment.paymentType !== 'DEPOSIT' || !isPaid(payment)) return; // payouts, chargebacks: docs/callbacks.md
      const { id, reference, amount, currency } = payment;
      const [{ affectedRows }] = await tx.execute<ResultSetHeader>(
        'UPDATE orders SET paid_by = ? WHERE reference = ? AND amount = ? AND currency = ? AND paid_by IS NULL',
        [id, reference ?? '', String(amount), currency],
      );
      if (affectedRows === 0) console.error('To check: a payment that no open order has asked for.', id);
    },
  });
  return { journal, inbox, gateway, handler };
}
