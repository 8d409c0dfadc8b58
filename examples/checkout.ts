// A checkout: each attempt to pay an order has its own reference, and the order is paid once. payments.ts opens it.
import { setTimeout } from 'node:timers/promises';
import {
  type GatewayClient,
  isFinal,
  isGatewayError,
  isPaid,
  type NextAction,
  type Payment,
  PaymentInDoubtError,
} from 'payment-gateway-sdk';
import type { Pool } from 'pg';
import { listToCheck, type Tx } from './to-check.js';

/** Stores amount, currency and addresses once, because a retry must send the same request. */
export const SCHEMA = `
  create table if not exists orders (id text primary key, amount numeric not null check (amount > 0), currency text not null,
    webhook_url text not null, return_url text not null, attempt int not null default 1,
    is_cancelled boolean not null default false, paid_by uuid)`;

const PLACE = 'insert into orders (id, amount, currency, webhook_url, return_url) values ($1, $2, $3, $4, $5)';
const CURRENT = 'select *, amount::text from orders where id = $1';
const NEXT = 'update orders set attempt = attempt + 1 where id = $1 and attempt = $2';
const CANCEL = 'update orders set is_cancelled = true where id = $1 and paid_by is null';
const PAID = `update orders set paid_by = $2
  where id = $1 and amount = $3 and currency = $4 and paid_by is null and not is_cancelled`;
const KNOWN = 'select from orders where paid_by = $1 union all select from to_check where payment_id = $1';

/** The state for the order's page. `checking`: the outcome is unknown. `link_lost`: support cancels it. */
export type Step = NextAction | { type: 'paid' | 'checking' | 'declined' | 'open' | 'cancelled' | 'link_lost' };

/** Records a deposit's new status, for the one handler. */
export async function recordDeposit(tx: Tx, payment: Payment): Promise<void> {
  const { id, reference, amount, currency } = payment;
  if (isPaid(payment)) {
    const orderId = reference?.replace(/\.\d+$/, '');
    const { rowCount } = await tx.query(PAID, [orderId, id, amount, currency]);
    // Already paid, cancelled, another amount, or an unknown order: an operator checks it and pays it back.
    if (rowCount === 0) await listToCheck(tx, payment);
  } else if (isFinal(payment)) {
    // The payment was paid before: a chargeback, or a correction of the gateway.
    const { rowCount } = await tx.query(KNOWN, [id]);
    if (rowCount) await listToCheck(tx, payment);
  } else if (payment.paymentStatus === 'UNKNOWN') {
    // The gateway's document does not have this status, for example of a refund.
    await listToCheck(tx, payment);
  }
}

/** Returns the step for an existing payment. */
function stepOf(payment: Payment, nextAction: NextAction): Step {
  // The payment is paid but not booked: its callback is on the way, or an operator must check it.
  if (isPaid(payment) || payment.paymentStatus === 'UNKNOWN') return { type: 'checking' };
  if (isFinal(payment)) return { type: 'declined' };
  // Only the answer to the create has the link. If that answer was lost, the customer cannot pay this attempt.
  return payment.paymentStatus === 'PENDING' && nextAction.type === 'wait' ? { type: 'link_lost' } : nextAction;
}

/** @param gateway with a journal */
export function openCheckout(pool: Pool, gateway: GatewayClient, shop: string) {
  async function read(id: string) {
    const [order] = (await pool.query(CURRENT, [id])).rows;
    if (!order) throw new Error(`There is no order ${id}.`);
    return { ...order, reference: `${id}.${order.attempt}` };
  }

  /** @param id must not end in a dot and a number, because that marks the attempt */
  async function place(id: string, amount: string, currency: string): Promise<void> {
    await pool.query(PLACE, [id, amount, currency, `${shop}/callbacks`, `${shop}/orders/${encodeURIComponent(id)}`]);
  }

  /** Pays the order when the customer presses "pay", also again. */
  async function pay(id: string): Promise<Step> {
    const patience = AbortSignal.timeout(3_000);
    for (let hasTried = false; ; hasTried = true) {
      const { amount, currency, attempt, reference, ...order } = await read(id);
      if (order.paid_by) return { type: 'paid' };
      if (order.is_cancelled) return { type: 'cancelled' };
      const request = { amount, currency, reference, webhookUrl: order.webhook_url, returnUrl: order.return_url };
      const before = (await gateway.find(reference))?.payment;
      try {
        const { payment, nextAction, replayed } = await gateway.createDeposit({ paymentMethod: 'CARD', ...request });
        // A returning customer gets the same step.
        const step = replayed || isFinal(payment) ? stepOf(payment, nextAction) : nextAction;
        // Declined by this click, or by a concurrent one: the customer decides about another attempt.
        if (step.type !== 'declined' || !before || hasTried) return step;
        await pool.query(NEXT, [id, attempt]);
      } catch (error) {
        if (!isGatewayError(error) || error.outcome !== 'unknown') throw error;
        // A second click reached another replica while the first create still runs: wait for its answer.
        const isWaiting = error instanceof PaymentInDoubtError && error.underWay === true;
        if (!isWaiting || patience.aborted) return { type: 'checking' };
        await setTimeout(250);
      }
    }
  }

  /** Returns the step for the page at the returnUrl. It sends no request: the page may poll every two seconds. */
  async function stateOf(id: string): Promise<Step> {
    const { paid_by, is_cancelled, reference } = await read(id);
    if (paid_by) return { type: 'paid' };
    if (is_cancelled) return { type: 'cancelled' };
    const entry = await gateway.find(reference);
    if (!entry || entry.state === 'freed') return { type: 'open' };
    const { payment, nextAction } = entry;
    return payment && nextAction ? stepOf(payment, nextAction) : { type: 'checking' };
  }

  /** Cancels the order, for example for another basket. @returns false if it is paid: pay it back */
  const cancel = async (id: string): Promise<boolean> => (await pool.query(CANCEL, [id])).rowCount === 1;

  return { place, pay, cancel, stateOf };
}
