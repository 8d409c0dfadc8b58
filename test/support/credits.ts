// A merchant's credits in Postgres, one row each, beside an inbox: a payment that took effect twice would have two.
import { randomUUID } from 'node:crypto';
import { createWebhookHandler, type Payment, type WebhookHandlerOptions } from 'payment-gateway-sdk';
import { postgresInbox } from 'payment-gateway-sdk/postgres';
import type pg from 'pg';
import { record } from './fixtures.ts';
import { postgresPool, uniqueName } from './stores.ts';

/** A client, a pool or a lent `tx`. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

/** @param observer of the same database, and not the pool under test: it sees what is committed */
export async function openCredits(observer: pg.Pool) {
  const [marks, table] = [uniqueName('marks'), uniqueName('credits')];
  await postgresInbox(observer, { table: marks }).migrate();
  await observer.query(`create table ${table} (payment_id uuid not null)`);
  return {
    marks,
    table,
    inboxOf: (pool: pg.Pool) => postgresInbox(pool, { table: marks }),
    credit: (db: Queryable, paymentId: string) => db.query(`insert into ${table} values ($1)`, [paymentId]),
    /** How often a payment was credited. */
    times: async (paymentId: string, db: Queryable = observer): Promise<number> => {
      const { rows } = await db.query(`select count(*)::int as times from ${table} where payment_id = $1`, [paymentId]);
      return (rows as { times: number }[])[0]?.times ?? 0;
    },
    /** How often each of the payments was credited that was. */
    all: async (db: Queryable = observer): Promise<Map<string, number>> => {
      const { rows } = await db.query(`select payment_id, count(*)::int as times from ${table} group by 1`);
      return new Map((rows as { payment_id: string; times: number }[]).map(row => [row.payment_id, row.times]));
    },
    /** The statuses of a payment that are marked, finished or not. */
    marksOf: async (paymentId: string): Promise<string[]> => {
      const { rows } = await observer.query(`select status from ${marks} where payment_id = $1`, [paymentId]);
      return rows.map(({ status }) => status);
    },
    close: () => observer.query(`drop table ${marks}, ${table}`),
  };
}

export type Credits = Awaited<ReturnType<typeof openCredits>>;

/** Credits, with a pool that lends one client at a time: the next payment gets the very one of the payment before. */
export async function openCreditedPool() {
  const [observer, pool] = [postgresPool(), postgresPool({ max: 2 })];
  const credits = await openCredits(observer);
  const close = async () => {
    await credits.close();
    await Promise.all([observer.end(), pool.end()]);
  };
  return { observer, pool, credits, close };
}

export const completedEvent = () => ({ paymentId: randomUUID() as string, status: 'COMPLETED', final: true });

/** The record of a card payment that nobody has seen yet. */
export const completedPayment = (id: string = randomUUID()): Payment => ({
  ...JSON.parse(record('completed CARD callback')),
  id,
});

/** A handler over a gateway whose payments are all completed, and what it answers to a payment's callback. */
export function openCallbacks<Context extends object>(options: Omit<WebhookHandlerOptions<Context>, 'gateway'>) {
  const handler = createWebhookHandler({
    gateway: { getPayment: async id => completedPayment(id) },
    onError: () => {},
    ...options,
  });
  const deliver = async (paymentId: string): Promise<string> => {
    const body = JSON.stringify(completedPayment(paymentId));
    const response = await handler(new Request('https://shop.example/callbacks', { method: 'POST', body }));
    return `${response.status} ${await response.text()}`;
  };
  return { handler, deliver };
}

/** The client that the pool has handed out last, as nobody should use it. */
export function rawClientOf(pool: pg.Pool): () => pg.PoolClient {
  let last: pg.PoolClient | undefined;
  pool.on('acquire', client => {
    last = client;
  });
  return () => {
    if (!last) throw new Error('The pool has handed out no client yet.');
    return last;
  };
}
