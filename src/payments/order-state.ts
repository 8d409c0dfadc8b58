// Reads and cancels orders.
import { InvalidRequestError } from '../errors.ts';
import type { Payment } from '../schemas/records/payment.ts';
import { isFinal, isPaid } from '../schemas/records/payment-status.ts';
import type { Store } from '../store/contract.ts';
import { ownerOf, readCreate } from '../store/creates/change.ts';
import type { CreateRow } from '../store/rules/create-row.ts';
import { newOrder, type OrderData, orderDataOf } from '../store/rules/order-row.ts';

/** An order, as the store knows it. */
export interface Order {
  id: string;
  /**
   * `open`: the customer can pay. `checking`: a payment may exist, waits for its callback, or needs a person.
   * `declined`: the last attempt failed. `reversed`: the payment that paid it failed later, and no new attempt is open.
   */
  state: 'open' | 'checking' | 'declined' | 'paid' | 'reversed' | 'canceled';
  /** The newest amount, a plain decimal. Absent for an order that was canceled before its first attempt. */
  amount?: string | undefined;
  /** In upper case. */
  currency?: string | undefined;
  /** The number of attempts so far. The last one has the reference `<id>.<attempts>`. */
  attempts: number;
  /**
   * The payment that paid the order, or else the payment of the last attempt, without customer data. Absent if none is
   * known, or if a second payment of an attempt paid the order.
   */
  payment?: Payment | undefined;
}

/** @throws {InvalidRequestError} for an id that no order can have */
export function checkOrderId(orderId: unknown): asserts orderId is string {
  const isId = typeof orderId === 'string' && orderId !== '' && Buffer.byteLength(orderId) <= 200;
  if (isId && !/\p{Cc}/u.test(orderId) && orderId.isWellFormed()) return;
  const message = 'must be your own id of the order, a string of 1 to 200 bytes of UTF-8 without control characters';
  throw new InvalidRequestError([{ path: 'orderId', message }], 'not_sent');
}

export const referenceOf = (orderId: string, attempt: number): string => `${orderId}.${attempt}`;

export async function orderOf(store: Store, orderId: string): Promise<Order | undefined> {
  checkOrderId(orderId);
  const { row } = await store.read({ kind: 'order', id: orderId });
  if (!row) return undefined;
  const order = orderDataOf(row);
  const create = await createOfOrder(store, orderId, order);
  const { amount, currency, attempts } = order;
  return { id: orderId, state: stateOf(order, create), amount, currency, attempts, payment: create?.result?.payment };
}

/** Reads the create that has paid the order, or else its last attempt. */
export const createOfOrder = (store: Store, orderId: string, { paidBy, attempts }: OrderData) =>
  paidBy ? ownerOf(store, paidBy) : readCreate(store, { reference: referenceOf(orderId, attempts) });

function stateOf({ paidBy, isCanceled }: OrderData, last: CreateRow | undefined): Order['state'] {
  if (paidBy) return 'paid';
  if (isCanceled) return 'canceled';
  const payment = last?.result?.payment;
  if (last?.state === 'begun' || (payment && (isPaid(payment) || payment.paymentStatus === 'UNKNOWN')))
    return 'checking';
  if (payment && !isFinal(payment)) return 'open';
  if (paidBy === null) return 'reversed';
  return payment ? 'declined' : 'open';
}

export async function cancelOrder(store: Store, orderId: string): Promise<boolean> {
  checkOrderId(orderId);
  for (;;) {
    const { row = newOrder(orderId) } = await store.read({ kind: 'order', id: orderId });
    const order = orderDataOf(row);
    if (order.paidBy) return false;
    if (order.isCanceled) return true;
    await store.write({ ...row, data: { ...order, isCanceled: true } });
  }
}
