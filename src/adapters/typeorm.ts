// TypeORM as a database for the stores.
import { type SqlDatabase, type SqlQuery, type SqlRow, sizeOf } from '../sql/database.ts';

/** A DataSource of TypeORM over PostgreSQL, MySQL or MariaDB, by shape. */
export interface TypeOrmDataSource<Tx> {
  readonly manager: Tx;
  readonly options: object;
  // biome-ignore lint/suspicious/noExplicitAny: one of two overloads
  transaction<T>(isolationLevel: 'READ COMMITTED', work: (tx: any) => Promise<T>): Promise<T>;
  createQueryRunner(mode?: 'master'): TypeOrmQueryRunner;
}

/** A connection of TypeORM. */
export interface TypeOrmQueryRunner {
  query(sql: string, values: never, useStructuredResult: true): Promise<{ records: unknown[] }>;
  release(): Promise<void>;
}

export const typeOrmOver =
  (dialect: 'postgres' | 'mysql') =>
  <Tx>(dataSource: TypeOrmDataSource<Tx>): SqlDatabase<Tx> => {
    const { poolSize, extra } = dataSource.options as { poolSize?: unknown; extra?: Record<string, unknown> };
    const queryOf =
      (runner: TypeOrmQueryRunner): SqlQuery =>
      async (sql, values = []) =>
        (await runner.query(sql, values as never, true)).records as SqlRow[];
    return {
      dialect,
      pool: { identity: dataSource, max: sizeOf(extra?.max ?? extra?.connectionLimit ?? poolSize) },
      async query(sql, values) {
        const runner = dataSource.createQueryRunner('master');
        return queryOf(runner)(sql, values).finally(() => runner.release());
      },
      transaction: work => dataSource.transaction('READ COMMITTED', work),
      queryIn: tx => queryOf((tx as { queryRunner: TypeOrmQueryRunner }).queryRunner),
    };
  };
