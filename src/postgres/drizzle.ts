// Drizzle over Postgres, as a database for our stores: its handles over a transaction of our own, or over one of postgres.js.
import {
  checkTransaction,
  type DrizzleDatabase,
  type Internals,
  open,
  overClients,
  type Session,
  send,
} from '../adapters/drizzle.ts';
import { misfit } from '../adapters/misfit.ts';
import type { SqlDatabase, SqlQuery, SqlRow } from '../sql/database.ts';
import type { PgClient, PgPool } from './pg.ts';
import { fromPool } from './pool.ts';
import { fromPostgresJs, type PostgresJs, withPlainNames } from './postgres-js.ts';

/**
 * Lets `postgresInbox` and `postgresJournal` use the merchant's Drizzle, over a pool of `pg` (or one like it) or over
 * postgres.js. `onPayment` gets Drizzle's own transaction as `tx`; a `tx.transaction()` in it is a savepoint.
 *
 * @throws {ConfigurationError} for a transaction, for a database over a single client, and for one over another driver
 * @example
 * const inbox = postgresInbox(fromDrizzle(db)); // onPayment gets Drizzle's own transaction as its tx
 * const journal = postgresJournal(fromDrizzle(db), { scope: 'eu-terminal' });
 * // The whole of it, with its handler: docs/orms/drizzle.md
 */
export function fromDrizzle<Tx>(db: DrizzleDatabase<Tx>): SqlDatabase<Tx> {
  const { client, sessionOver } = open(db, 'PgDialect', 'PostgreSQL');
  const { begin, connect, query, escapeIdentifier } = client as Client;
  const refused = (takes: string) => misfit('fromDrizzle', takes, db);
  if (escapeIdentifier) {
    throw refused(
      'a database over a pool, as of drizzle({ client: new pg.Pool() }): over one client, what runs at the same time would be one transaction',
    );
  }
  if (begin) return overPostgresJs(client as PostgresJs<object>, sessionOver);
  if (!connect || !query) throw refused('a database over a pool of pg, or over postgres.js');
  return overClients<Tx, PgClient>(fromPool(client as PgPool), sessionOver, queryIn, { rows: [], command: '' });
}

/** What a Drizzle is made over. */
type Client = Partial<Record<'begin' | 'connect' | 'query' | 'escapeIdentifier', unknown>>;

function queryIn(tx: unknown): SqlQuery {
  checkTransaction(tx);
  return async (sql, values) => {
    const answer = await send(tx as DrizzleDatabase<unknown>, sql, values);
    return withPlainNames(Array.isArray(answer) ? answer : (answer as { rows: SqlRow[] }).rows);
  };
}

/** The transaction is that of `fromPostgresJs`; Drizzle makes the handle. */
function overPostgresJs<Tx>(sql: PostgresJs<object>, sessionOver: (client: object) => Session): SqlDatabase<Tx> {
  const { transaction, lend, queryIn, ...rest } = fromPostgresJs(sql);
  return {
    ...rest,
    // What is asked of its own handle is sent later than its SAVEPOINT.
    queryIn(tx) {
      checkTransaction(tx);
      return queryIn(sessionOf(tx).client);
    },
    transaction: work =>
      transaction((own, query) => {
        const shim = { begin: (inner: (sql: object) => unknown) => inner(own) };
        return sessionOver(shim).transaction(tx => work(tx as Tx, query));
      }),
    lend: (tx, work) => {
      const session = sessionOf(tx);
      return lend(session.client, lent => {
        session.client = lent;
        return work(tx);
      });
    },
  };
}

const sessionOf = (tx: unknown) => (tx as Internals).session as Required<Session>;
