// Drizzle, as a database for our stores.
import { beforeEnd, ended } from './after-end.ts';
import { poolOf, type SqlDatabase, type SqlQuery, type SqlRow } from './database.ts';
import { misfit } from './misfit.ts';

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
 * Lets `postgresInbox` and `postgresJournal` use the merchant's Drizzle, over a pool of `pg` or over postgres.js.
 * `onPayment` gets Drizzle's own transaction as `tx`; a `tx.transaction()` in it is a savepoint.
 *
 * @throws {ConfigurationError} for a transaction, for a database over a single client, or over another one than PostgreSQL
 * @example
 * const handler = createWebhookHandler({
 *   gateway,
 *   inbox: postgresInbox(fromDrizzle(db)),
 *   onPayment: (payment, { tx }) =>
 *     tx.update(orders).set({ isPaid: true }).where(eq(orders.reference, payment.reference)),
 * });
 */
export function fromDrizzle<Tx>(db: DrizzleDatabase<Tx>): SqlDatabase<Tx> {
  const { $client, dialect, nestedIndex, session, execute } = (db ?? {}) as Internals;
  const refused = (takes: string) => misfit('fromDrizzle', takes, db);
  if (!execute || !session) throw refused('what drizzle() returns');
  if (nestedIndex !== undefined) throw refused('what drizzle() returns, and none of its transactions');
  if (isSingle($client)) {
    throw refused(
      'a database over a pool, as of drizzle({ client: new pg.Pool() }): over one client, what runs at the same time would be one transaction',
    );
  }
  const kind = kindOf(dialect);
  if (kind !== 'PgDialect') throw refused(`a Drizzle over PostgreSQL, and this one has a ${kind}`);

  return {
    dialect: 'postgres',
    pool: poolOf($client),
    query: queryOf(db),
    queryIn: tx => queryOf(tx as Executor),
    async transaction(work) {
      let isEnded = false;
      let release = () => {};
      const guarded = (tx: Tx) => {
        release = guard(tx as Internals);
        return beforeEnd(work(tx, queryOf(tx as Executor)), () => isEnded);
      };
      try {
        return await db.transaction(guarded, { isolationLevel: 'read committed', accessMode: 'read write' });
      } finally {
        isEnded = true;
        release();
      }
    },
  };
}

type Executor = Pick<DrizzleDatabase<unknown>, 'execute'>;

/** Drizzle takes no text with placeholders, but everything that can be made one. */
function queryOf(handle: Executor): SqlQuery {
  return async (sql, params = []) => {
    const answer = await handle.execute({ getSQL: () => ({ toQuery: () => ({ sql, params }) }) } as never);
    return Array.isArray(answer) ? answer : (answer as { rows: SqlRow[] }).rows;
  };
}

interface Internals {
  $client?: object;
  dialect?: object;
  session?: { client?: object };
  nestedIndex?: number;
  execute?: unknown;
}

/** What keeps the name of one of Drizzle's classes. */
const KIND = Symbol.for('drizzle:entityKind');

const kindOf = (dialect: object | undefined): unknown =>
  (dialect?.constructor as { [KIND]?: unknown } | undefined)?.[KIND];

/** A client of `pg`, which is no pool. */
const isSingle = (client: object | undefined): boolean => client !== undefined && 'escapeIdentifier' in client;

/** What an emitter of errors has. */
interface Emitter {
  on?(event: 'error', listener: () => void): void;
  removeListener?(event: 'error', listener: () => void): void;
}

/**
 * Drizzle hands the connection on and lets its transaction use it all the same; and where `pg` reports that it broke,
 * Drizzle does not listen, which ends the process.
 *
 * @returns what to call once the transaction has ended
 */
function guard({ session }: Internals): () => void {
  const client: Emitter | undefined = session?.client;
  const listen = () => {};
  client?.on?.('error', listen);
  return () => {
    client?.removeListener?.('error', listen);
    if (session) session.client = ended;
  };
}
