// Kysely, as a database for our stores.
import { randomUUID } from 'node:crypto';
import { storeOptions } from '../schemas/store-options.ts';
import { DEFAULT_SIZE, poolSizeProblem, type SqlDatabase, type SqlQuery, type SqlRow } from '../sql/database.ts';
import { ENDED } from './ended.ts';
import { misfit, noTransactionOf } from './misfit.ts';

/** A Kysely over PostgreSQL, by shape. */
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
   * How many connections its pool has: our stores hold at most half of them.
   * @default 10
   */
  poolSize?: number | undefined;
}

/**
 * Lets `postgresInbox` and `postgresJournal` use the merchant's Kysely. `onPayment` gets Kysely's own transaction as `tx`,
 * in which Kysely begins no other one.
 *
 * @throws {ConfigurationError} for a transaction of it, or a Kysely over another database than PostgreSQL
 * @example
 * const handler = createWebhookHandler({
 *   gateway,
 *   inbox: postgresInbox(fromKysely(db)),
 *   onPayment: (payment, { tx }) =>
 *     tx.updateTable('orders').set({ is_paid: true }).where('reference', '=', payment.reference).execute(),
 * });
 */
export function fromKysely<Tx>(db: KyselyDatabase<Tx>, options: KyselyOptions = {}): SqlDatabase<Tx> {
  const { executeQuery, transaction, isTransaction, getExecutor } = (db ?? {}) as Internals;
  const refused = (takes: string) => misfit('fromKysely', takes, db);
  if (!executeQuery || !transaction) throw refused('a new Kysely()');
  if (isTransaction) throw refused('a new Kysely(), and none of its transactions');
  const adapter = getExecutor?.call(db).adapter?.constructor?.name ?? '';
  if (OTHERS.test(adapter)) throw refused(`a Kysely over PostgreSQL, and this one has a ${adapter}`);
  const { poolSize: max = DEFAULT_SIZE } = storeOptions('fromKysely', options, { poolSize: poolSizeProblem });

  return {
    dialect: 'postgres',
    // Derived from it by withSchema and its like, others have the same.
    pool: { identity: getExecutor?.call(db).adapter ?? db, max },
    query: queryOf(db),
    queryIn(tx) {
      const { isTransaction } = (tx ?? {}) as Internals;
      if (!isTransaction) throw noTransactionOf('fromKysely', 'that of db.transaction().execute(async trx => …)', tx);
      return queryOf(tx as Executor);
    },
    transaction(work) {
      const begin = db.transaction().setIsolationLevel('read committed');
      return (begin.setAccessMode?.('read write') ?? begin).execute(tx => work(tx, queryOf(tx as Executor)));
    },
    async lend(tx, work) {
      let isEnded = false;
      const check = () => {
        if (isEnded) throw new Error(ENDED);
      };
      try {
        await work(untilEnd(tx, check));
      } finally {
        isEnded = true;
      }
    },
  };
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

const OTHERS = /mysql|sqlite|mssql/i;

interface Internals {
  executeQuery?: unknown;
  transaction?: unknown;
  isTransaction?: boolean;
  getExecutor?(): { adapter?: object };
}

type Executor = Pick<KyselyDatabase<unknown>, 'withoutPlugins' | 'withPlugin'>;

/** As CompiledQuery.raw of Kysely makes it, and without plugins that read JSON or rename columns. */
function queryOf(handle: Executor): SqlQuery {
  return async (sql, parameters = []) => {
    const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] };
    const compiled = { sql, parameters, query, queryId: { queryId: randomUUID() } };
    const { rows } = await handle.withoutPlugins().executeQuery(compiled as never);
    return rows as SqlRow[];
  };
}
