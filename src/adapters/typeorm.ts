// TypeORM, as a database for our stores.
import { ConfigurationError } from '../errors.ts';
import { DEFAULT_SIZE, type SqlDatabase, type SqlQuery, type SqlRow } from '../sql/database.ts';
import { ENDED } from './ended.ts';
import { misfit, noTransactionOf } from './misfit.ts';

/** A DataSource of TypeORM over PostgreSQL, by shape. */
export interface TypeOrmDataSource<Tx> {
  readonly manager: Tx;
  // biome-ignore lint/suspicious/noExplicitAny: one of two overloads
  transaction<T>(isolationLevel: 'READ COMMITTED', work: (tx: any) => Promise<T>): Promise<T>;
  createQueryRunner(mode?: 'master'): TypeOrmQueryRunner;
}

/** A connection of TypeORM's. */
export interface TypeOrmQueryRunner {
  query(sql: string, values: never, useStructuredResult: true): Promise<{ records: unknown[] }>;
  release(): Promise<void>;
}

/**
 * Lets `postgresInbox` and `postgresJournal` use the merchant's TypeORM. `onPayment` gets the `EntityManager` of the
 * transaction as `tx`; a `tx.transaction()` in it is a savepoint.
 *
 * @param dataSource may be initialised later, before the first call
 * @throws {ConfigurationError} for an EntityManager or a QueryRunner, for a pool of one connection, and for another
 * database than PostgreSQL
 * @example
 * const handler = createWebhookHandler({
 *   gateway,
 *   inbox: postgresInbox(fromTypeOrm(dataSource)),
 *   onPayment: (payment, { tx }) => tx.update(Order, { reference: payment.reference }, { isPaid: true }),
 * });
 */
export function fromTypeOrm<Tx>(dataSource: TypeOrmDataSource<Tx>): SqlDatabase<Tx> {
  const { createQueryRunner, transaction, options } = (dataSource ?? {}) as Internals;
  const refused = (takes: string) => misfit('fromTypeOrm', takes, dataSource);
  if (!createQueryRunner || !transaction)
    throw refused('a new DataSource(), and neither its EntityManager nor a QueryRunner');
  const { type = 'postgres', poolSize, extra } = options ?? {};
  if (!POSTGRES.test(type)) throw refused(`a DataSource over PostgreSQL, and this one is of type ${type}`);

  const checkReady = () => {
    if ((dataSource as Internals).isInitialized !== false) return;
    throw new ConfigurationError(
      'The DataSource is not connected: await dataSource.initialize() before the first payment.',
    );
  };

  return {
    dialect: 'postgres',
    pool: { identity: dataSource, max: extra?.max ?? poolSize ?? DEFAULT_SIZE },
    async query(sql, values) {
      checkReady();
      const runner = dataSource.createQueryRunner('master');
      try {
        return await queryOf(runner)(sql, values);
      } finally {
        await runner.release();
      }
    },
    queryIn: tx => queryOf(runnerOf(tx)),
    async transaction(work) {
      checkReady();
      return dataSource.transaction('READ COMMITTED', (tx: Tx) => work(tx, queryOf(runnerOf(tx))));
    },
    lend: lendManager,
  };
}

interface Internals {
  createQueryRunner?: unknown;
  transaction?: unknown;
  isInitialized?: boolean;
  options?: { type?: string; poolSize?: number; extra?: { max?: number } };
}

const POSTGRES = /postgres/;

/** What TypeORM sends at the end of a transaction. */
const ENDING = /^(?:COMMIT|ROLLBACK)$/;

/** TypeORM lets the manager of a transaction be used until ROLLBACK was answered. */
async function lendManager<Tx>(tx: Tx, work: (tx: Tx) => Promise<unknown>): Promise<void> {
  const runner = runnerOf(tx);
  const { query } = runner;
  try {
    await work(tx);
  } finally {
    const send = query.bind(runner);
    own.set(runner, send);
    runner.query = async (sql, ...args) => {
      if (!ENDING.test(sql)) throw new Error(ENDED);
      return send(sql, ...args);
    };
  }
}

/** How our own statements are sent by then. */
const own = new WeakMap<TypeOrmQueryRunner, TypeOrmQueryRunner['query']>();

/** Of a transaction's EntityManager. */
function runnerOf(tx: unknown): TypeOrmQueryRunner {
  const { queryRunner } = (tx ?? {}) as { queryRunner?: TypeOrmQueryRunner };
  if (queryRunner) return queryRunner;
  throw noTransactionOf('fromTypeOrm', 'the EntityManager of dataSource.transaction(async manager => …)', tx);
}

const queryOf =
  (runner: TypeOrmQueryRunner): SqlQuery =>
  async (sql, values = []) =>
    (await (own.get(runner) ?? runner.query.bind(runner))(sql, values as never, true)).records as SqlRow[];
