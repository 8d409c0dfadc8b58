// Payouts to the growers: each is planned in the transaction that owes it, and sent by the drain in upkeep.ts.
import { and, desc, eq, sql } from 'drizzle-orm';
import type { PgInsertValue } from 'drizzle-orm/pg-core';
import type { GatewayClient, Payment } from 'payment-gateway-sdk';
import { CURRENCIES } from './catalogue.ts';
import { type Database, payouts, type Tx } from './database.ts';
import type { Journal } from './gateway.ts';
import type { Order } from './orders.ts';

type Payout = typeof payouts.$inferSelect;

const referenceOf = ({ orderId, attempt }: Payout): string => `payout-${orderId}.${attempt}`;

/** The state of a payout: the gateway's once it is final, and the journal's until then. */
const STATES = { planned: 'planned', begun: 'in doubt', created: 'sent', freed: 'not paid' } as const;

const isUnpaid = (state: string): boolean => ['FAILED', 'CANCELED', STATES.freed].includes(state);

/** The grower's share of each order. */
const SHARE = '0.6';

export function openPayouts(db: Database, gateway: GatewayClient, journal: Journal, shopUrl: string) {
  /** Commits the row and the plan with all other writes of `tx`, or not at all. */
  async function owe(tx: Tx, payout: PgInsertValue<typeof payouts>): Promise<void> {
    const [owed] = await tx.insert(payouts).values(payout).onConflictDoNothing().returning();
    if (!owed) return; // another request has just added the same attempt
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

  async function withState(payout: Payout) {
    const entry = payout.status === 'OWED' ? await gateway.find(referenceOf(payout)) : undefined;
    const state = entry ? STATES[entry.state] : payout.status;
    return { ...payout, state, isUnpaid: isUnpaid(state) };
  }

  return {
    /** Owes the grower's share of a paid order. */
    oweShare: (tx: Tx, { id, amount, currency }: Order) =>
      owe(tx, { orderId: id, attempt: 1, amount: sql`round(${amount}::numeric * ${SHARE}::numeric, 2)`, currency }),

    /** Records a payout's end. @returns false for an unknown payout, another amount, or one that had ended before */
    async record(tx: Tx, { id, reference, paymentStatus, amount, currency }: Payment): Promise<boolean> {
      // The gateway may keep a FAILED payment for a refused create, in addition to the payment of the retry.
      const entry = await gateway.find(reference ?? '');
      const isOpen = entry?.state === 'begun' && Number(entry.amount) === amount;
      if (isOpen) throw new Error('Whose payment it is, is known once the create has ended.'); // the next sweep retries
      if (entry?.paymentId?.toLowerCase() !== id.toLowerCase()) return false;
      const [, orderId = '0', attempt = '0'] = /^payout-(\d{1,9})\.(\d{1,9})$/.exec(reference ?? '') ?? [];
      const ended = await tx
        .update(payouts)
        .set({ status: paymentStatus })
        .where(
          and(
            eq(payouts.orderId, Number(orderId)),
            eq(payouts.attempt, Number(attempt)),
            eq(payouts.amount, String(amount)),
            sql`${payouts.currency} = ${currency}`,
            eq(payouts.status, 'OWED'),
          ),
        )
        .returning();
      return ended.length === 1;
    },

    /** Owes an unpaid payout again, but only once for concurrent requests of two operators. */
    payAgain: (orderId: number) =>
      db.transaction(async tx => {
        const [last] = await tx
          .select()
          .from(payouts)
          .where(eq(payouts.orderId, orderId))
          .orderBy(desc(payouts.attempt))
          .limit(1);
        if (!last || !(await withState(last)).isUnpaid) return;
        const { amount, currency, attempt } = last;
        await owe(tx, { orderId, attempt: attempt + 1, amount, currency });
      }),

    /** Returns the latest attempt of each payout. */
    async list() {
      const { orderId, attempt } = payouts;
      const latest = db.selectDistinctOn([orderId]).from(payouts).orderBy(desc(orderId), desc(attempt)).limit(100);
      return Promise.all((await latest).map(withState));
    },
  };
}

export type Payouts = ReturnType<typeof openPayouts>;
