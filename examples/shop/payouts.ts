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

/** What becomes of a payout: as the gateway says once it is final, and as the journal says until then. */
const STATES = { planned: 'planned', begun: 'in doubt', created: 'sent', freed: 'not paid' } as const;

const isUnpaid = (state: string): boolean => ['FAILED', 'CANCELED', STATES.freed].includes(state);

/** What of each order is the grower's. */
const SHARE = '0.6';

export function openPayouts(db: Database, gateway: GatewayClient, journal: Journal, shopUrl: string) {
  /** The row and the plan are committed with whatever else `tx` writes, or not at all. */
  async function owe(tx: Tx, payout: PgInsertValue<typeof payouts>): Promise<void> {
    const [owed] = await tx.insert(payouts).values(payout).onConflictDoNothing().returning();
    if (!owed) return; // somebody else has just asked for the same attempt
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
    /** An order was paid. */
    oweShare: (tx: Tx, { id, amount, currency }: Order) =>
      owe(tx, { orderId: id, attempt: 1, amount: sql`round(${amount}::numeric * ${SHARE}::numeric, 2)`, currency }),

    /** The gateway says how a payout ended. @returns false if it is none of ours, of another amount, or had ended before */
    async record(tx: Tx, { id, reference, paymentStatus, amount, currency }: Payment): Promise<boolean> {
      // Of a create that was refused a gateway may keep a failed payment, beside the one that was made after that.
      const entry = await gateway.find(reference ?? '');
      const isOpen = entry?.state === 'begun' && Number(entry.amount) === amount;
      if (isOpen) throw new Error('Whose payment it is, is known once the create has ended.'); // it comes again
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

    /** Owes a payout once more that was not paid: once, if two operators ask at the same time. */
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

    /** The latest attempt of each. */
    async list() {
      const { orderId, attempt } = payouts;
      const latest = db.selectDistinctOn([orderId]).from(payouts).orderBy(desc(orderId), desc(attempt)).limit(100);
      return Promise.all((await latest).map(withState));
    },
  };
}

export type Payouts = ReturnType<typeof openPayouts>;
