// A merchant's credits in a database, one row each, beside an inbox: a payment that took effect twice would have two.
import { randomUUID } from 'node:crypto';
import { createWebhookHandler, type Payment, type WebhookHandlerOptions } from 'payment-gateway-sdk';
import { postgresInbox } from 'payment-gateway-sdk/postgres';
import type pg from 'pg';
import { type Database, overPostgres, type Query } from './database.ts';
import { record } from './fixtures.ts';
import { readMarks } from './marks.ts';
import { uniqueName } from './stores.ts';

/** A client, a pool or a lent `tx`. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

/** @param observer of the same database, and not the pool under test: it sees what is committed */
export async function openCreditsOver(observer: Database) {
  const [marks, table] = [uniqueName('marks'), uniqueName('credits')];
  await observer.inbox({ table: marks }).migrate();
  await observer.query(`create table ${table} (payment_id char(36) not null)`);
  const times = 'count(*) as times';
  return {
    marks,
    table,
    inboxOf: (database: Database) => database.inbox({ table: marks }),
    credit: (tx: unknown, paymentId: string) => observer.queryIn(tx)(`insert into ${table} values (?)`, [paymentId]),
    /** How often a payment was credited. */
    times: async (paymentId: string, query: Query = observer.query): Promise<number> => {
      const [row] = await query(`select ${times} from ${table} where payment_id = ?`, [paymentId]);
      return Number(row?.times);
    },
    /** How often each of the payments was credited that was. */
    all: async (query: Query = observer.query): Promise<Map<string, number>> => {
      const rows = await query(`select payment_id, ${times} from ${table} group by payment_id`);
      return new Map(rows.map(row => [String(row.payment_id), Number(row.times)]));
    },
    /** The statuses of a payment that are marked, finished or not. */
    marksOf: async (paymentId: string): Promise<string[]> =>
      (await readMarks(observer.query, marks, paymentId)).map(({ status }) => status),
    /** How many effects have begun that nobody knows the end of. */
    uncertain: async (query: Query = observer.query): Promise<number> =>
      (await readMarks(query, marks)).filter(({ isBegun }) => isBegun).length,
    close: () => observer.query(`drop table ${marks}, ${table}`),
  };
}

export type CreditsOver = Awaited<ReturnType<typeof openCreditsOver>>;

/** The same for those who have a pool of `pg` in their hands. */
export async function openCredits(observer: pg.Pool) {
  const credits = await openCreditsOver(overPostgres(observer));
  return {
    ...credits,
    inboxOf: (pool: pg.Pool) => postgresInbox(pool, { table: credits.marks }),
    credit: (db: Queryable, paymentId: string) => credits.credit(db, paymentId),
    times: (paymentId: string, db: Queryable = observer) =>
      credits.times(paymentId, overPostgres(observer).queryIn(db)),
  };
}

export type Credits = Awaited<ReturnType<typeof openCredits>>;

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
