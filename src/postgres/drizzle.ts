// Drizzle, as a database for our stores: its handles over a transaction of our own, or over one of postgres.js.

import { ENDED } from '../adapters/ended.ts';
import { misfit, noTransactionOf } from '../adapters/misfit.ts';
import type { SqlDatabase, SqlQuery, SqlRow } from '../sql/database.ts';
import { lend as lendClient } from './lent-client.ts';
import { fromPool, type PgClient, type PgPool } from './pool.ts';
import { fromPostgresJs, type PostgresJs, withPlainNames } from './postgres-js.ts';

/** A database of Drizzle over PostgreSQL, by shape. */
export interface DrizzleDatabase<Tx> {
  transaction<T>(work: (tx: Tx) => Promise<T>, config?: DrizzleTransactionConfig): Promise<T>;
  execute(query: never): PromiseLike<unknown>;
}

/** What is asked of a transaction of Drizzle. */
export interface DrizzleTransactionConfig {
  isolationLevel?: 'read committed';
  accessMode?: 'read write';
}

/**
 * Lets `postgresInbox` and `postgresJournal` use the merchant's Drizzle, over a pool of `pg` (or one like it) or over
 * postgres.js. `onPayment` gets Drizzle's own transaction as `tx`; a `tx.transaction()` in it is a savepoint.
 *
 * @throws {ConfigurationError} for a transaction, for a database over a single client, and for one over another driver
 * @example
 * const handler = createWebhookHandler({
 *   gateway,
 *   inbox: postgresInbox(fromDrizzle(db)),
 *   onPayment: (payment, { tx }) =>
 *     tx.update(orders).set({ isPaid: true }).where(eq(orders.reference, payment.reference)),
 * });
 */
export function fromDrizzle<Tx>(db: DrizzleDatabase<Tx>): SqlDatabase<Tx> {
  const { $client, dialect, nestedIndex, session, execute } = (db ?? {}) as unknown as Internals;
  const refused = (takes: string) => misfit('fromDrizzle', takes, db);
  if (!execute || !session) throw refused('what drizzle() returns');
  if (nestedIndex !== undefined) throw refused('what drizzle() returns, and none of its transactions');
  const kind = kindOf(dialect);
  if (kind !== 'PgDialect') throw refused(`a Drizzle over PostgreSQL, and this one has a ${kind}`);
  const { begin, connect, query, escapeIdentifier } = ($client ?? {}) as Client;
  if (escapeIdentifier) {
    throw refused(
      'a database over a pool, as of drizzle({ client: new pg.Pool() }): over one client, what runs at the same time would be one transaction',
    );
  }
  const queryIn = (tx: Tx): SqlQuery => {
    if ((tx as Internals | undefined)?.nestedIndex === undefined) {
      throw noTransactionOf('fromDrizzle', 'that of db.transaction(async tx => …)', tx);
    }
    return queryOf(tx as Handle);
  };
  const sessionOver = (client: object) =>
    new (session.constructor as SessionOf)(client, session.dialect, session.schema, session.options);
  if (begin) return overPostgresJs($client as PostgresJs<object>, sessionOver, queryIn);
  if (connect && query) return overPool($client as PgPool, sessionOver, queryIn);
  throw refused('a database over a pool of pg, or over postgres.js');
}

interface Internals {
  $client?: object;
  dialect?: object;
  session?: Session;
  nestedIndex?: number;
  execute?: unknown;
}

/** What a Drizzle is made over. */
type Client = Partial<Record<'begin' | 'connect' | 'query' | 'escapeIdentifier', unknown>>;

/** What sends the statements of one client. */
interface Session {
  client?: object;
  dialect: object;
  schema: unknown;
  options: unknown;
  transaction<T>(work: (tx: object) => Promise<T>): Promise<T>;
}
type SessionOf = new (client: object, dialect: object, schema: unknown, options: unknown) => Session;

/** What keeps the name of one of Drizzle's classes. */
const KIND = Symbol.for('drizzle:entityKind');

const kindOf = (dialect: object | undefined): unknown =>
  (dialect?.constructor as { [KIND]?: unknown } | undefined)?.[KIND];

type Handle = Pick<DrizzleDatabase<unknown>, 'execute'>;

/** Drizzle takes no text with placeholders, but everything that can be made one. */
function queryOf(handle: Handle): SqlQuery {
  return async (sql, params = []) => {
    const answer = await handle.execute({ getSQL: () => ({ toQuery: () => ({ sql, params }) }) } as never);
    return withPlainNames(Array.isArray(answer) ? answer : (answer as { rows: SqlRow[] }).rows);
  };
}

/** The client behind a handle, and where its queries go, in their time. */
interface Slot {
  client: PgClient;
  target?: PgClient | undefined;
}

/** With which Drizzle begins and ends a transaction. */
const isOwn = (query: unknown): boolean => /^(?:begin|commit|rollback)$/.test((query as { text?: string }).text ?? '');

/**
 * The transaction is that of `fromPool`, with all that it watches over: a connection that breaks before BEGIN was answered,
 * a COMMIT that answers ROLLBACK, queries that nobody awaits. Drizzle makes the handle, and believes that it has begun and
 * committed it.
 */
function overPool<Tx>(
  pool: PgPool,
  sessionOver: (client: object) => Session,
  queryIn: (tx: Tx) => SqlQuery,
): SqlDatabase<Tx> {
  const { transaction, ...rest } = fromPool<PgClient>(pool);
  const slots = new WeakMap<object, Slot>();
  return {
    ...rest,
    queryIn,
    transaction: work =>
      transaction(async (client, query) => {
        const slot: Slot = { client };
        const send = async (...args: Parameters<PgClient['query']>) => {
          if (slot.target) return slot.target.query(...args);
          if (isOwn(args[0])) return { rows: [], command: '' };
          throw new Error(ENDED);
        };
        return sessionOver({ query: send }).transaction(async tx => {
          slots.set(tx, slot);
          slot.target = client;
          try {
            return await work(tx as Tx, query);
          } finally {
            slot.target = undefined;
          }
        });
      }),
    async lend(tx, work) {
      const slot = slots.get(tx as object) as Slot;
      try {
        return await lendClient(slot.client, lent => {
          slot.target = lent;
          return work(tx);
        });
      } finally {
        slot.target = undefined;
      }
    },
  };
}

/** The transaction is that of `fromPostgresJs`; Drizzle makes the handle. */
function overPostgresJs<Tx>(
  sql: PostgresJs<object>,
  sessionOver: (client: object) => Session,
  queryIn: (tx: Tx) => SqlQuery,
): SqlDatabase<Tx> {
  const { transaction, lend, ...rest } = fromPostgresJs(sql);
  return {
    ...rest,
    queryIn,
    transaction: work =>
      transaction((own, query) => {
        const shim = { begin: (inner: (sql: object) => unknown) => inner(own) };
        return sessionOver(shim).transaction(tx => work(tx as Tx, query));
      }),
    lend: (tx, work) => {
      const session = (tx as Internals).session as Required<Session>;
      return lend(session.client, lent => {
        session.client = lent;
        return work(tx);
      });
    },
  };
}
