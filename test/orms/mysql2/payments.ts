// The gateway, and what becomes of its callbacks.
import type { ResultSetHeader, RowDataPacket } from 'mysql2';
import type { ClientOptions } from 'payment-gateway-sdk';
import { createWebhookHandler, GatewayClient, isFinal, isPaid, rawStatusOf } from 'payment-gateway-sdk';
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
      const { id, reference, amount, currency } = payment;
      const status = rawStatusOf(payment);
      if (payment.paymentType === 'WITHDRAWAL') throw new Error('Record it here, as docs/payouts.md does');
      if (isPaid(payment)) {
        const [{ affectedRows }] = await tx.query<ResultSetHeader>(
          'UPDATE orders SET paid_by = ? WHERE reference = ? AND amount = ? AND currency = ? AND paid_by IS NULL',
          [id, reference ?? '', String(amount), currency],
        );
        if (affectedRows === 1) return;
      } else if (isFinal(payment)) {
        const [known] = await tx.query<RowDataPacket[]>(
          'SELECT 1 FROM orders WHERE paid_by = ? UNION ALL SELECT 1 FROM to_check WHERE payment_id = ?',
          [id, id],
        );
        if (known.length === 0) return; // declined, as cards are
      } else if (payment.paymentStatus !== 'UNKNOWN') return;
      // Another amount, paid by another attempt, no order; a chargeback; or a status that the document does not have.
      await tx.query('INSERT INTO to_check VALUES (?, ?)', [id, status]);
    },
    onError: error => console.error(error),
  });
  return { journal, inbox, gateway, handler };
}
