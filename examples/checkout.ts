// A checkout: each attempt to pay an order has a reference of its own, and the order is paid once.
import { createWebhookHandler, type GatewayClient, isFinal, isPaid, type NextAction } from 'payment-gateway-sdk';
import { postgresInbox } from 'payment-gateway-sdk/postgres';
import type { Pool } from 'pg';

export const SCHEMA = `
  create table if not exists orders (id text primary key, amount numeric not null, currency text not null,
    attempt int not null default 1, paid_by uuid);
  create table if not exists to_check (payment_id uuid primary key, reference text)`;

const CURRENT = 'select amount::text, currency, attempt, paid_by from orders where id = $1';
const NEXT = 'update orders set attempt = attempt + 1 where id = $1 and attempt = $2';
const PAID = 'update orders set paid_by = $2 where id = $1 and paid_by is null and amount = $3 and currency = $4';
const TO_CHECK = 'insert into to_check values ($1, $2)';

/** @param gateway with a journal */
export function openCheckout(pool: Pool, gateway: GatewayClient, shop: string) {
  /** The customer presses "pay", now or again: what to do next, or undefined if the order is paid. */
  async function pay(id: string): Promise<NextAction | undefined> {
    for (;;) {
      const [order] = (await pool.query(CURRENT, [id])).rows;
      if (!order) throw new Error(`There is no order ${id}.`);
      const { amount, currency, attempt, paid_by } = order;
      if (paid_by) return undefined;
      const urls = { webhookUrl: `${shop}/callbacks`, returnUrl: `${shop}/orders/${id}` };
      const request = { paymentMethod: 'CARD', amount, currency, reference: `${id}.${attempt}`, ...urls } as const;
      const { payment, nextAction } = await gateway.createDeposit(request);
      if (isPaid(payment)) return undefined; // its callback is on the way
      if (!isFinal(payment)) return nextAction; // the same for a customer who comes back
      await pool.query(NEXT, [id, attempt]); // declined or cancelled: the next attempt
    }
  }

  const callbacks = createWebhookHandler({
    gateway,
    inbox: postgresInbox(pool),
    onPayment: async (payment, { tx }) => {
      if (payment.paymentType !== 'DEPOSIT' || !isPaid(payment)) return;
      const { id, reference, amount, currency } = payment;
      const orderId = reference?.replace(/\.\d+$/, '');
      const { rowCount } = await tx.query(PAID, [orderId, id, amount, currency]);
      // Paid by another attempt already, of another amount, or no order of ours: somebody looks, and pays it back.
      if (rowCount === 0) await tx.query(TO_CHECK, [id, reference]);
    },
  });
  return { pay, callbacks };
}
