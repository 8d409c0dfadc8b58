// A checkout: each attempt to pay an order has a reference of its own, and the order is paid once. payments.ts opens it.
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

/** Amount, currency and addresses are written once: an attempt that is made again must be the same in every field. */
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

/** What the order's page shows. `checking`: a payment may exist, and nobody knows yet. `link_lost`: support cancels it. */
export type Step = NextAction | { type: 'paid' | 'checking' | 'declined' | 'open' | 'cancelled' | 'link_lost' };

/** For the one handler: a deposit has a new status. */
export async function recordDeposit(tx: Tx, payment: Payment): Promise<void> {
  const { id, reference, amount, currency } = payment;
  if (isPaid(payment)) {
    const orderId = reference?.replace(/\.\d+$/, '');
    const { rowCount } = await tx.query(PAID, [orderId, id, amount, currency]);
    // Paid by another attempt already, cancelled, of another amount, or no order of ours: somebody looks, and pays it back.
    if (rowCount === 0) await listToCheck(tx, payment);
  } else if (isFinal(payment)) {
    // It was paid, and is no longer: a chargeback, or a correction of the gateway.
    const { rowCount } = await tx.query(KNOWN, [id]);
    if (rowCount) await listToCheck(tx, payment);
  } else if (payment.paymentStatus === 'UNKNOWN') {
    // A status that the gateway's document does not have, such as that of a refund.
    await listToCheck(tx, payment);
  }
}

/** What the order's page shows of a payment that was made before. */
function stepOf(payment: Payment, nextAction: NextAction): Step {
  // Paid, and not booked: its callback is on the way, or it does not fit the order, and is on the list to be checked.
  if (isPaid(payment) || payment.paymentStatus === 'UNKNOWN') return { type: 'checking' };
  if (isFinal(payment)) return { type: 'declined' };
  // Only the answer to the create has the link. If that answer was lost, nobody can pay this attempt any more.
  return payment.paymentStatus === 'PENDING' && nextAction.type === 'wait' ? { type: 'link_lost' } : nextAction;
}

/** @param gateway with a journal */
export function openCheckout(pool: Pool, gateway: GatewayClient, shop: string) {
  async function read(id: string) {
    const [order] = (await pool.query(CURRENT, [id])).rows;
    if (!order) throw new Error(`There is no order ${id}.`);
    return { ...order, reference: `${id}.${order.attempt}` };
  }

  /** @param id without a dot and a number at its end: that is the attempt */
  async function place(id: string, amount: string, currency: string): Promise<void> {
    await pool.query(PLACE, [id, amount, currency, `${shop}/callbacks`, `${shop}/orders/${encodeURIComponent(id)}`]);
  }

  /** The customer presses "pay", now or again. */
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
        // The same for a customer who comes back.
        const step = replayed || isFinal(payment) ? stepOf(payment, nextAction) : nextAction;
        // Declined by this click, or one at the same moment: a further attempt is the customer's to make.
        if (step.type !== 'declined' || !before || hasTried) return step;
        await pool.query(NEXT, [id, attempt]);
      } catch (error) {
        if (!isGatewayError(error) || error.outcome !== 'unknown') throw error;
        // A second click, which another replica got: the first is still under way, and has its answer in a moment.
        const isWaiting = error instanceof PaymentInDoubtError && error.underWay === true;
        if (!isWaiting || patience.aborted) return { type: 'checking' };
        await setTimeout(250);
      }
    }
  }

  /** For the page at the returnUrl. It creates nothing and asks no gateway: the page may ask every two seconds. */
  async function stateOf(id: string): Promise<Step> {
    const { paid_by, is_cancelled, reference } = await read(id);
    if (paid_by) return { type: 'paid' };
    if (is_cancelled) return { type: 'cancelled' };
    const entry = await gateway.find(reference);
    if (!entry || entry.state === 'freed') return { type: 'open' };
    const { payment, nextAction } = entry;
    return payment && nextAction ? stepOf(payment, nextAction) : { type: 'checking' };
  }

  /** The order is given up, such as for another basket. @returns false if it is paid: pay it back */
  const cancel = async (id: string): Promise<boolean> => (await pool.query(CANCEL, [id])).rowCount === 1;

  return { place, pay, cancel, stateOf };
}
