// A pool of one database, as scenes with many processes use it: the same words over Postgres and MySQL.
import type { Pool as MysqlPool, PoolConnection } from 'mysql2/promise';
import type pg from 'pg';
import { mysqlStore } from '../../src/mysql/index.ts';
import { postgresStore } from '../../src/postgres/index.ts';
import type { SqlStoreOptions } from '../../src/sql/store.ts';
import type { Store } from '../../src/store/contract.ts';
import { watchedMysql, watchedPool } from './watched-pool.ts';

/** Runs a statement, whose placeholders are `?`, and answers its rows. */
export type Query = (sql: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;

/** Stands around a statement that a store sends. */
export type Around = <T>(sql: string, send: () => Promise<T>) => Promise<T>;

export interface Database {
  query: Query;
  /** Runs statements in a transaction: an effect's, or one begun here. */
  queryIn(tx: unknown): Query;
  /** A transaction of the merchant's own. */
  begin(): Promise<{ tx: unknown; query: Query; end(how: 'commit' | 'rollback'): Promise<void> }>;
  store(options: SqlStoreOptions): Store;
  /** The same pool, with something around each statement that a store sends. */
  watched(around: Around): Database;
  end(): Promise<void>;
}

export type PostgresPool = Pick<pg.Pool, 'connect' | 'end'> & {
  query(sql: string, values?: unknown[]): Promise<unknown>;
};

const numbered = (sql: string) => {
  let count = 0;
  return sql.replace(/\?/g, () => `$${++count}`);
};

export function overPostgres(pool: PostgresPool): Database {
  const queryOf =
    (on: unknown): Query =>
    async (sql, values = []) =>
      (await (on as pg.Pool).query(numbered(sql), [...values])).rows;
  return {
    query: queryOf(pool),
    queryIn: queryOf,
    async begin() {
      const client = await pool.connect();
      const query = queryOf(client);
      await query('begin');
      const end = async (how: string) => {
        await query(how);
        client.release();
      };
      return { tx: client, query, end };
    },
    store: options => postgresStore(pool as pg.Pool, options) as Store,
    watched: around => {
      const { connect } = watchedPool(pool, (text, _values, send) => around(text, send));
      return overPostgres({ connect, end: () => pool.end(), query: (sql, values) => pool.query(sql, values) });
    },
    end: () => pool.end(),
  };
}

export type MysqlConnections = Pick<MysqlPool, 'getConnection' | 'end'>;

export function overMysql(pool: MysqlConnections): Database {
  const queryOf =
    (on: unknown): Query =>
    async (sql, values = []) => {
      const [rows] = await (on as PoolConnection).query(sql, [...values]);
      return rows as Record<string, unknown>[];
    };
  return {
    async query(sql, values) {
      const connection = await pool.getConnection();
      try {
        return await queryOf(connection)(sql, values);
      } finally {
        connection.release();
      }
    },
    queryIn: queryOf,
    async begin() {
      const connection = await pool.getConnection();
      const query = queryOf(connection);
      await query('begin');
      const end = async (how: string) => {
        await query(how);
        connection.release();
      };
      return { tx: connection, query, end };
    },
    store: options => mysqlStore(pool, options) as Store,
    watched: around => overMysql({ getConnection: watchedMysql(pool, around).getConnection, end: () => pool.end() }),
    end: () => pool.end(),
  };
}

export interface PoolLimits {
  /** Connections. */
  max?: number;
  /** Of a proxy, instead of the server's own. */
  port?: number;
  /** Milliseconds that a connection may take. */
  connectMs?: number;
}

/** @param name of the database; only its driver is loaded, because processes are started by the dozen */
export async function openDatabase(
  name: string,
  { max = 10, port, connectMs = 10_000 }: PoolLimits = {},
): Promise<Database> {
  const place = port ? { port } : {};
  if (name === 'Postgres') {
    const { postgresPool } = await import('../support/stores.ts');
    return overPostgres(postgresPool({ max, connectionTimeoutMillis: connectMs, ...place }));
  }
  const { mysqlServers } = await import('../support/mysql-stores.ts');
  const server = mysqlServers.find(each => each.name === name);
  if (!server) throw new Error(`There is no database ${name}.`);
  return overMysql(server.pool({ connectionLimit: max, connectTimeout: connectMs, ...place }));
}
