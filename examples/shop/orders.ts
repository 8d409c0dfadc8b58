// Stores orders: creates them, credits their payment once, and starts new attempts.
import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import { type Payment, rawStatusOf } from 'payment-gateway-sdk';
import { type Currency, type Method, PRODUCTS, type Product } from './catalogue.ts';
import { type Database, orders, type Tx, toCheck } from './database.ts';

export type Order = typeof orders.$inferSelect;

/** Returns the reference of the current attempt: `order-7.2` is the second of order 7. */
export const referenceOf = ({ id, attempt }: Pick<Order, 'id' | 'attempt'>): string => `order-${id}.${attempt}`;

const orderIdOf = (reference: Payment['reference']): number =>
  Number(/^order-(\d{1,9})\.\d+$/.exec(reference ?? '')?.[1] ?? 0);

/** @returns the order's key */
export async function placeOrder(db: Database, product: Product, currency: Currency, method: Method): Promise<string> {
  const amount = PRODUCTS[product].prices[currency];
  const [order] = await db.insert(orders).values({ product, amount, currency, method }).returning();
  if (!order) throw new Error('An order was not stored.');
  return order.key;
}

export async function findOrder(db: Database, key: string): Promise<Order | undefined> {
  const [order] = await db.select().from(orders).where(eq(orders.key, key));
  return order;
}

/** Starts the next attempt, unless another tab has started it. */
export async function nextAttempt(db: Database, { id, attempt }: Order, method: Method): Promise<void> {
  await db
    .update(orders)
    .set({ attempt: sql`${orders.attempt} + 1`, method })
    .where(and(eq(orders.id, id), eq(orders.attempt, attempt), isNull(orders.paidBy)));
}

/** @returns the order that this payment paid; undefined if already paid, of another amount, or unknown */
export async function creditOrder(tx: Tx, { id, reference, amount, currency }: Payment): Promise<Order | undefined> {
  const [order] = await tx
    .update(orders)
    .set({ paidBy: id })
    .where(
      and(
        eq(orders.id, orderIdOf(reference)),
        isNull(orders.paidBy),
        eq(orders.amount, String(amount)),
        sql`${orders.currency} = ${currency}`,
      ),
    )
    .returning();
  return order;
}

/** Whether the payment has paid an order or was listed, so that later changes of it matter. */
export async function isKnown(tx: Tx, { id }: Payment): Promise<boolean> {
  const paid = await tx.select().from(orders).where(eq(orders.paidBy, id));
  const listed = await tx.select().from(toCheck).where(eq(toCheck.paymentId, id));
  return paid.length + listed.length > 0;
}

/** Lists a payment that changes no order, or takes back an earlier payment. */
export async function listToCheck(tx: Tx, payment: Payment): Promise<void> {
  const { id, reference, amount, currency } = payment;
  const status = rawStatusOf(payment);
  await tx.insert(toCheck).values({ paymentId: id, status, reference, amount: String(amount), currency });
}

export const paymentsToCheck = (db: Database) => db.select().from(toCheck).orderBy(desc(toCheck.createdAt)).limit(100);
