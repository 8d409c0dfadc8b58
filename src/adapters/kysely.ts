// Kysely, as a database for our stores.
import { randomUUID } from 'node:crypto';
import { storeOptions } from '../options/store-options.ts';
import { DEFAULT_SIZE, poolSizeProblem, type SqlDatabase, type SqlQuery, type SqlRow } from '../sql/database.ts';
import { ENDED } from './ended.ts';
import { type Gate, gateBefore, guard, lendGuarded } from './gate.ts';
import { misfit, noTransactionOf } from './misfit.ts';

/** A Kysely over PostgreSQL, MySQL or MariaDB, by shape. */
export interface KyselyDatabase<Tx> {
  transaction(): KyselyTransactionBuilder<Tx>;
  executeQuery(query: never): Promise<{ rows: unknown[] }>;
  withoutPlugins(): Pick<KyselyDatabase<Tx>, 'executeQuery'>;
  withPlugin(plugin: never): unknown;
}

/** What is asked of a transaction of Kysely. */
export interface KyselyTransactionBuilder<Tx> {
  setIsolationLevel(level: 'read committed'): KyselyTransactionBuilder<Tx>;
  setAccessMode?(mode: 'read write'): KyselyTransactionBuilder<Tx>;
  execute<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

/** What a Kysely does not tell. */
export interface KyselyOptions {
  /**
   * How many connections its pool has: inboxes hold at most half of them, and so do the statements of journals.
   * @default 10
   */
  poolSize?: number | undefined;
}

/**
 * Lets the stores of Postgres and of MySQL use the merchant's Kysely. `onPayment` gets Kysely's own transaction as `tx`,
 * in which Kysely begins no other one.
 *
 * @throws {ConfigurationError} for a transaction of it, or a Kysely over a database that there are no stores for
 * @example
 * const inbox = postgresInbox(fromKysely(db, { poolSize: 10 })); // onPayment gets a Transaction<Tables> as its tx
 * const journal = postgresJournal(fromKysely(db, { poolSize: 10 }), { scope: 'eu-terminal' });
 * // The whole of it, with its handler: docs/orms/kysely.md
 */
export function fromKysely<Tx>(db: KyselyDatabase<Tx>, options: KyselyOptions = {}): SqlDatabase<Tx> {
  const { executeQuery, transaction, isTransaction, getExecutor } = (db ?? {}) as Internals;
  const refused = (takes: string) => misfit('fromKysely', takes, db);
  if (!executeQuery || !transaction) throw refused('a new Kysely()');
  if (isTransaction) throw refused('a new Kysely(), and none of its transactions');
  const { adapter } = getExecutor?.call(db) ?? {};
  const isMysql = adapter?.supportsReturning === false && !adapter.supportsOutput;
  if ((!isMysql && adapter?.supportsTransactionalDdl === false) || adapter?.supportsOutput)
    throw refused(`a Kysely over PostgreSQL or MySQL, and this one has a ${adapter?.constructor.name}`);
  const { poolSize: max = DEFAULT_SIZE } = storeOptions('fromKysely', options, { poolSize: poolSizeProblem });
  const queryOf = isMysql ? mysqlQueryOf : rowsOf;

  return {
    dialect: isMysql ? 'mysql' : 'postgres',
    // Derived from it by withSchema and its like, others have the same.
    pool: { identity: adapter ?? db, max },
    query: queryOf(db),
    queryIn(tx) {
      const { isTransaction } = (tx ?? {}) as Internals;
      if (!isTransaction) throw noTransactionOf('that of db.transaction().execute(async trx => …)', tx, 'fromKysely');
      return queryOf(tx as Executor);
    },
    transaction(work) {
      const begin = db.transaction().setIsolationLevel('read committed');
      return (begin.setAccessMode?.('read write') ?? begin).execute(async tx => {
        if (isMysql) guard(tx, await gateOf(tx as Internals));
        return work(tx, queryOf(tx as Executor));
      });
    },
    lend: isMysql ? lendGuarded : lendUntilEnd,
  };
}

/** Puts a gate before the connection of a transaction. */
const gateOf = (tx: Internals): Promise<Gate> =>
  (tx.getExecutor as () => Provider)().provideConnection(async connection =>
    gateBefore(connection, {
      executeQuery: (gate, send) => query => gate.pass(query.sql, () => send(query)),
      streamQuery: () => () => {
        throw new Error('tx has no streams: read them with a connection of your own.');
      },
    }),
  );

interface Provider {
  provideConnection<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
}

interface Connection {
  executeQuery(query: { sql: string }): Promise<unknown>;
  streamQuery(query: { sql: string }): unknown;
}

async function lendUntilEnd<Tx>(tx: Tx, work: (tx: Tx) => Promise<unknown>): Promise<void> {
  let isEnded = false;
  const check = () => {
    if (isEnded) throw new Error(ENDED);
  };
  try {
    await work(untilEnd(tx, check));
  } finally {
    isEnded = true;
  }
}

/** Kysely lets its transaction be used until ROLLBACK was answered. */
const untilEnd = <Tx>(tx: Tx, check: () => void): Tx => {
  const plugin = {
    transformQuery({ node }: { node: unknown }) {
      check();
      return node;
    },
    transformResult: async ({ result }: { result: unknown }) => result,
  };
  return (tx as Executor).withPlugin(plugin as never) as Tx;
};

interface Internals {
  executeQuery?: unknown;
  transaction?: unknown;
  isTransaction?: boolean;
  getExecutor?(): { adapter?: Adapter };
}

/** What a dialect can do. By its name it is not to be told: a bundler may change that. */
interface Adapter {
  constructor: { name: string };
  supportsReturning?: boolean;
  supportsOutput?: boolean;
  supportsTransactionalDdl?: boolean;
}

type Executor = Pick<KyselyDatabase<unknown>, 'withoutPlugins' | 'withPlugin'>;

/** As CompiledQuery.raw of Kysely makes it, and without plugins that read JSON or rename columns. */
async function run(handle: Executor, sql: string, parameters: readonly unknown[] = []): Promise<Answer> {
  const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] };
  const compiled = { sql, parameters, query, queryId: { queryId: randomUUID() } };
  return handle.withoutPlugins().executeQuery(compiled as never);
}

interface Answer {
  rows: unknown[];
  numAffectedRows?: bigint;
}

const rowsOf =
  (handle: Executor): SqlQuery =>
  async (sql, values) =>
    (await run(handle, sql, values)).rows as SqlRow[];

const mysqlQueryOf =
  (handle: Executor): SqlQuery =>
  async (sql, values) => {
    const { rows, numAffectedRows } = await run(handle, sql, values);
    return numAffectedRows === undefined ? (rows as SqlRow[]) : [{ affected: String(numAffectedRows) }];
  };
