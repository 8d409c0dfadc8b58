// All payment code: a client over a store, the one handler of all callbacks, and the growers' payouts.
import { and, eq, type SQL, sql } from 'drizzle-orm';
import { type ClientOptions, createWebhookHandler, GatewayClient } from 'payment-gateway-sdk';
import { fromDrizzle, postgresStore } from 'payment-gateway-sdk/postgres';
import { CURRENCIES, type Currency } from './catalogue.ts';
import { type Database, orders, payouts, type Tx } from './database.ts';

export async function openPayments(db: Database, scope: string, options: ClientOptions<'standard'>) {
  const store = postgresStore(fromDrizzle(db), { scope });
  await store.migrate();
  const gateway = new GatewayClient({
    ...options,
    store,
    signCallbackUrls: true,
    onEvent: event => event.type === 'warning' && console.warn(`${event.code}: ${event.message}`),
  });

  /** Owes a payout and plans it: both are committed, or neither. */
  async function owe(tx: Tx, orderId: string, amount: SQL | string, currency: Currency): Promise<void> {
    const [owed] = await tx.insert(payouts).values({ orderId, amount, currency }).returning();
    if (!owed) throw new Error('A payout was not stored.');
    const { payout: paymentMethod } = CURRENCIES[currency];
    await gateway.payOut(tx, { reference: owed.reference, paymentMethod, amount: owed.amount, currency });
  }
  const setPaid = (tx: Tx, order: string, isPaid: boolean) =>
    tx.update(orders).set({ isPaid }).where(eq(orders.id, order)).returning();
  const setPayout = (tx: Tx, reference: string, state: 'paid' | 'failed') =>
    tx.update(payouts).set({ state }).where(eq(payouts.reference, reference));

  const handler = createWebhookHandler({
    gateway,
    onPaid: async ({ order = '' }, { tx, afterCommit }) => {
      const [paid] = await setPaid(tx, order, true);
      if (!paid) throw new Error(`There is no order ${order}.`);
      await owe(tx, order, sql`round(${paid.amount}::numeric * 0.6, 2)`, paid.currency);
      afterCommit(() => console.log(`Receipt of order ${order}`)); // replace this with your e-mail
    },
    onReversed: ({ order = '' }, { tx }) => setPaid(tx, order, false),
    onPaidOut: ({ reference }, { tx }) => setPayout(tx, reference, 'paid'),
    onPayoutFailed: ({ reference }, { tx }) => setPayout(tx, reference, 'failed'),
    // The operator's page lists every review. A refused payout was never made, so it can be owed again.
    onReview: ({ reference = '', reason }, { tx }) =>
      reason === 'payout_refused' ? setPayout(tx, reference, 'failed') : undefined,
    onError: error => console.error(error),
  });

  /** Owes a failed payout again, once for concurrent requests of two operators. */
  const payAgain = (reference: string) =>
    db.transaction(async tx => {
      const isFailed = and(eq(payouts.reference, reference), eq(payouts.state, 'failed'));
      const [failed] = await tx.update(payouts).set({ state: 'replaced' }).where(isFailed).returning();
      if (failed) await owe(tx, failed.orderId, failed.amount, failed.currency);
    });

  return { gateway, handler, payAgain };
}

export type Payments = Awaited<ReturnType<typeof openPayments>>;
