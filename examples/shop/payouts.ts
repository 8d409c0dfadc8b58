// Payouts to the growers: each is planned in the transaction that owes it, and sent by the drain in upkeep.ts.
import { and, desc, eq, sql } from 'drizzle-orm';
import type { PgInsertValue } from 'drizzle-orm/pg-core';
import type { Payment } from 'payment-gateway-sdk';
import { CURRENCIES } from './catalogue.ts';
import { type Database, payouts, type Tx } from './database.ts';
import type { Journal } from './gateway.ts';
import type { Order } from './orders.ts';

type Payout = typeof payouts.$inferSelect;

const referenceOf = ({ orderId, attempt }: Payout): string => `payout-${orderId}.${attempt}`;

/** What of each order is the grower's. */
const SHARE = '0.6';

export function openPayouts(db: Database, journal: Journal, shopUrl: string) {
  /** The row and the plan are committed with whatever else `tx` writes, or not at all. */
  async function owe(tx: Tx, payout: PgInsertValue<typeof payouts>): Promise<void> {
    const [owed] = await tx.insert(payouts).values(payout).returning();
    if (!owed) throw new Error('A payout was not stored.');
    await journal.plan(tx, {
      paymentType: 'WITHDRAWAL',
      paymentMethod: CURRENCIES[owed.currency].payout,
      amount: owed.amount,
      currency: owed.currency,
      reference: referenceOf(owed),
      description: `Grower's share of order ${owed.orderId}`,
      webhookUrl: `${shopUrl}/callbacks`,
    });
  }

  return {
    /** An order was paid. */
    oweShare: (tx: Tx, { id, amount, currency }: Order) =>
      owe(tx, { orderId: id, attempt: 1, amount: sql`round(${amount}::numeric * ${SHARE}::numeric, 2)`, currency }),

    /** The gateway says how a payout ended. */
    async record(tx: Tx, { reference, paymentStatus }: Payment): Promise<void> {
      const [, orderId = '0', attempt = '0'] = /^payout-(\d{1,9})\.(\d{1,9})$/.exec(reference ?? '') ?? [];
      await tx
        .update(payouts)
        .set({ status: paymentStatus })
        .where(and(eq(payouts.orderId, Number(orderId)), eq(payouts.attempt, Number(attempt))));
    },

    /** Owes a payout that failed once more. Of two operators who ask at the same time the second violates the primary key. */
    payAgain: (orderId: number) =>
      db.transaction(async tx => {
        const [last] = await tx
          .select()
          .from(payouts)
          .where(eq(payouts.orderId, orderId))
          .orderBy(desc(payouts.attempt))
          .limit(1);
        if (last?.status !== 'FAILED' && last?.status !== 'CANCELED') return;
        const { amount, currency, attempt } = last;
        await owe(tx, { orderId, attempt: attempt + 1, amount, currency });
      }),

    /** The latest attempt of each. */
    list: () =>
      db
        .selectDistinctOn([payouts.orderId])
        .from(payouts)
        .orderBy(desc(payouts.orderId), desc(payouts.attempt))
        .limit(100),
  };
}

export type Payouts = ReturnType<typeof openPayouts>;
