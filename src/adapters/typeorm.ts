// TypeORM, as a database for our stores.
import { ConfigurationError } from '../errors.ts';
import { type SqlDatabase, type SqlQuery, type SqlRow, type SqlValue, sizeOf } from '../sql/database.ts';
import { ENDED } from './ended.ts';
import { guard, lendGuarded } from './gate.ts';
import { misfit, noTransactionOf } from './misfit.ts';
import { endOf, gateOf, type RawConnection } from './mysql2.ts';

/** A DataSource of TypeORM over PostgreSQL, MySQL or MariaDB, by shape. */
export interface TypeOrmDataSource<Tx> {
  readonly manager: Tx;
  // biome-ignore lint/suspicious/noExplicitAny: one of two overloads
  transaction<T>(isolationLevel: 'READ COMMITTED', work: (tx: any) => Promise<T>): Promise<T>;
  createQueryRunner(mode?: 'master'): TypeOrmQueryRunner;
}

/** A connection of TypeORM's. */
export interface TypeOrmQueryRunner {
  query(sql: string, values: never, useStructuredResult: true): Promise<{ records: unknown[]; affected?: number }>;
  release(): Promise<void>;
}

/**
 * Lets the stores of Postgres and of MySQL use the merchant's TypeORM. `onPayment` gets the `EntityManager` of the
 * transaction as `tx`; a `tx.transaction()` in it is a savepoint.
 *
 * @param dataSource may be initialised later, before the first call
 * @throws {ConfigurationError} for an EntityManager or a QueryRunner, for a pool of one connection, and for a
 * database that there are no stores for
 * @example
 * const inbox = postgresInbox(fromTypeOrm(dataSource)); // onPayment gets an EntityManager as its tx
 * const journal = postgresJournal(fromTypeOrm(dataSource), { scope: 'eu-terminal' });
 * // The whole of it, with its handler: docs/orms/typeorm.md
 */
export function fromTypeOrm<Tx>(dataSource: TypeOrmDataSource<Tx>): SqlDatabase<Tx> {
  const { createQueryRunner, transaction, options } = (dataSource ?? {}) as Internals;
  const refused = (takes: string) => misfit('fromTypeOrm', takes, dataSource);
  if (!createQueryRunner || !transaction)
    throw refused('a new DataSource(), and neither its EntityManager nor a QueryRunner');
  const { type = 'postgres', poolSize, extra } = options ?? {};
  const isMysql = MYSQL.test(type);
  if (!isMysql && !POSTGRES.test(type))
    throw refused(`a DataSource over PostgreSQL or MySQL, and this one is of type ${type}`);
  const queryOf = isMysql ? mysqlRowsOf : rowsOf;

  const checkReady = () => {
    if ((dataSource as Internals).isInitialized !== false) return;
    throw new ConfigurationError(
      'The DataSource is not connected: await dataSource.initialize() before the first payment.',
    );
  };

  return {
    dialect: isMysql ? 'mysql' : 'postgres',
    pool: { identity: dataSource, max: sizeOf(extra?.max ?? extra?.connectionLimit ?? poolSize) },
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
      let end = async () => {};
      const guarded = async (tx: Tx) => {
        const runner = runnerOf(tx);
        if (isMysql) {
          const connection = (await (runner as unknown as Connected).connect()) as RawConnection;
          const gate = gateOf(connection);
          end = () => endOf(gate, connection);
          guard(tx, gate);
        }
        try {
          return await work(tx, queryOf(runner));
        } catch (error) {
          // Where a transaction within has failed to end, TypeORM takes this one for it, and does not end it.
          await end();
          throw error;
        }
      };
      return dataSource.transaction('READ COMMITTED', guarded).finally(() => end());
    },
    lend: isMysql ? lendGuarded : lendManager,
  };
}

interface Internals {
  createQueryRunner?: unknown;
  transaction?: unknown;
  isInitialized?: boolean;
  options?: { type?: string; poolSize?: number; extra?: { max?: number; connectionLimit?: number } };
}

const POSTGRES = /postgres/;
const MYSQL = /^(?:mysql|mariadb)$/;

/** A runner, which is connected by then. */
interface Connected {
  connect(): Promise<unknown>;
}

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
  throw noTransactionOf('the EntityManager of dataSource.transaction(async manager => …)', tx, 'fromTypeOrm');
}

type QueryOf = (runner: TypeOrmQueryRunner) => SqlQuery;

const send = (runner: TypeOrmQueryRunner, sql: string, values: readonly SqlValue[] = []) =>
  (own.get(runner) ?? runner.query.bind(runner))(sql, values as never, true);

const rowsOf: QueryOf = runner => async (sql, values) => (await send(runner, sql, values)).records as SqlRow[];

const mysqlRowsOf: QueryOf = runner => async (sql, values) => {
  const { records, affected } = await send(runner, sql, values);
  return affected === undefined ? (records as SqlRow[]) : [{ affected: String(affected) }];
};
