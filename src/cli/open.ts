// Opens the merchant's store with the driver of their app.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { withTimeout } from '../deadline.ts';
import { mysqlStore } from '../mysql/store.ts';
import { fromPostgresJs, type PostgresJs } from '../postgres/postgres-js.ts';
import { postgresStore } from '../postgres/store.ts';
import type { SqlStoreOptions } from '../sql/store.ts';
import { CommandError } from '../terminal/program.ts';

/** Milliseconds for a connection, and for a query. */
const TIMEOUT = 5_000;

/** @throws {CommandError} {@link ConfigurationError} if something is missing or wrong */
export function open({ tablePrefix, ...place }: SqlStoreOptions) {
  const url = process.env.DATABASE_URL?.trim();
  if (!url) throw new CommandError('DATABASE_URL is missing: set it to the database of the store.');
  const openStore = /^postgres(ql)?:/.test(url) ? inPostgres : /^(mysql|mariadb):/.test(url) ? inMysql : undefined;
  if (!openStore) throw new CommandError('DATABASE_URL must begin with postgres:// or mysql://.');
  // An empty prefix counts as absent.
  const { store, close } = openStore(url, { ...place, tablePrefix: tablePrefix || undefined });
  // A driver may wait for the answer to an abandoned query.
  return { store, close: () => withTimeout(close(), TIMEOUT, () => {}) };
}

function load<T>(name: string): T | undefined {
  try {
    return createRequire(join(process.cwd(), 'package.json'))(name);
  } catch {
    return undefined;
  }
}

const missing = (drivers: string, name: string) =>
  new CommandError(`${drivers} installed here: run this in the folder of your app, or npm install ${name}.`);

function inPostgres(url: string, options: SqlStoreOptions) {
  const pg = load<typeof import('pg')>('pg');
  if (pg) {
    const limits = { max: 2, connectionTimeoutMillis: TIMEOUT, query_timeout: TIMEOUT };
    const pool = new pg.Pool({ connectionString: url, ...limits });
    // The queries of a lost connection fail too.
    pool.on('error', () => {});
    return { store: postgresStore(pool, options), close: () => pool.end() };
  }
  const postgres = load<(url: string, options: object) => PostgresJs<unknown> & { end(): Promise<void> }>('postgres');
  if (!postgres) throw missing('Neither pg nor postgres is', 'pg');
  const sql = postgres(url, { max: 2, connect_timeout: TIMEOUT / 1000, onnotice: () => {} });
  return { store: postgresStore(fromPostgresJs(sql), options), close: () => sql.end() };
}

function inMysql(url: string, options: SqlStoreOptions) {
  const mysql = load<typeof import('mysql2/promise')>('mysql2/promise');
  if (!mysql) throw missing('mysql2 is not', 'mysql2');
  const pool = mysql.createPool({ uri: url, connectionLimit: 2, connectTimeout: TIMEOUT });
  return { store: mysqlStore(pool, options), close: () => pool.end() };
}
