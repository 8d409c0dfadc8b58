// Makes each owed payout despite crashes: the transaction that owes it also plans it, and a drain sends it later.
// payments.ts opens it.
import { type GatewayClient, isFinal, type JournalEntry, type Payment } from 'payment-gateway-sdk';
import type { PostgresJournal } from 'payment-gateway-sdk/postgres';
import type { Pool, PoolClient } from 'pg';
import { listToCheck, type Tx } from './to-check.js';

export const SCHEMA = `
  create table if not exists payouts (reference text primary key, amount numeric not null, currency text not null,
    webhook_url text not null, owed_at timestamptz not null default now(), status text)`;

const OWE = 'insert into payouts (reference, amount, currency, webhook_url) values ($1, $2, $3, $4)';
const OWED = 'select *, amount::text from payouts where reference = $1 for update';
const ENDED = `update payouts set status = $2
  where reference = $1 and amount = $3 and currency = $4 and status is null`;
const OVERDUE = `select reference, owed_at < now() - interval '3 days' as is_old
  from payouts where status is null and owed_at < now() - interval '1 hour' order by owed_at`;

/** Records a withdrawal's new status, for the one handler. */
export async function recordPayout(tx: Tx, payment: Payment, gateway: GatewayClient): Promise<void> {
  // The gateway's document does not have this status, for example of a bank's return: an operator checks it.
  if (payment.paymentStatus === 'UNKNOWN') return listToCheck(tx, payment);
  if (!isFinal(payment)) return;
  const { id, reference, paymentStatus, amount, currency } = payment;
  // The gateway may keep a FAILED payment for a refused create, in addition to the payment of the retry.
  const entry = reference ? await gateway.find(reference) : undefined;
  const isOpen = entry?.state === 'begun' && Number(entry.amount) === amount;
  if (isOpen) throw new Error(`Whose payment ${id} is, is known once the create has ended.`); // the next sweep retries
  const values = [reference, paymentStatus, amount, currency];
  const isIts = entry?.paymentId?.toLowerCase() === id.toLowerCase();
  const isEnded = isIts && (await tx.query(ENDED, values)).rowCount === 1;
  // Another payment, an unknown payout, another amount, or a payout that had ended otherwise: an operator checks it.
  if (!isEnded) await listToCheck(tx, payment);
}

/** @param gateway with the journal */
export function openPayouts(pool: Pool, gateway: GatewayClient, journal: PostgresJournal<PoolClient>, shop: string) {
  async function plan(tx: PoolClient, reference: string): Promise<JournalEntry> {
    const [payout] = (await tx.query(OWED, [reference])).rows;
    if (!payout) throw new Error(`There is no payout ${reference}.`);
    const { amount, currency, webhook_url } = payout;
    const request = { amount, currency, reference, webhookUrl: webhook_url };
    return journal.plan(tx, { paymentType: 'WITHDRAWAL', paymentMethod: 'SEPA', ...request });
  }

  async function inTransaction<T>(work: (tx: PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    try {
      await client.query('begin');
      const result = await work(client);
      await client.query('commit');
      client.release();
      return result;
    } catch (error) {
      const isOver = await client.query('rollback').then(
        () => true,
        () => false,
      );
      client.release(!isOver); // closed if the transaction may be open: others would write into it
      throw error;
    }
  }

  /** Owes the payout and plans its create. Both are committed, or neither. */
  const payOut = (reference: string, amount: string, currency: string) =>
    inTransaction(async tx => {
      await tx.query(OWE, [reference, amount, currency, `${shop}/callbacks`]);
      await plan(tx, reference);
    });

  /**
   * Plans a payout again after a refusal or a settlement as `not_created`. If the gateway refused the request, correct
   * the row first. A planned or created payout stays unchanged. One in doubt throws.
   */
  const planAgain = (reference: string) => inTransaction(tx => plan(tx, reference));

  /**
   * Lists payouts for an alert: owed for an hour without a payment, or for three days and still not final. Only
   * `planAgain` sends a `freed` one.
   */
  async function overdue(): Promise<{ reference: string; state: string }[]> {
    const found: { reference: string; state: string }[] = [];
    for (const { reference, is_old } of (await pool.query(OVERDUE)).rows) {
      const { state = 'unknown' } = (await gateway.find(reference)) ?? {};
      if (state !== 'created' || is_old) found.push({ reference, state });
    }
    return found;
  }

  return { payOut, planAgain, overdue };
}
