// The real stores that tests run against, and whether this machine has them.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import pg from 'pg';
import { type PostgresStoreOptions, postgresStore } from '../../src/postgres/index.ts';

export const POSTGRES = { host: '127.0.0.1', port: 5432, user: 'postgres', database: 'test' };
const REDIS = { host: '127.0.0.1', port: 6379 };

const answers = ({ host, port }: { host: string; port: number }): Promise<boolean> => {
  const socket = connect({ host, port });
  const connected = once(socket, 'connect', { signal: AbortSignal.timeout(1_000) });
  return connected
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
};

export const hasPostgres = await answers(POSTGRES);
export const hasRedis = await answers(REDIS);

/** A name that no other test has. */
export const uniqueName = (prefix: string): string => `${prefix}_${randomBytes(6).toString('hex')}`;

export const postgresPool = (options: pg.PoolConfig = {}): pg.Pool => {
  const pool = new pg.Pool({ ...POSTGRES, ...options });
  pool.on('error', () => {});
  return pool;
};

/** Runs work in a transaction of the merchant's own. */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  end = 'commit',
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query(end);
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

/** Opens a store in its own table, over its own pool. `close` drops the table. */
export async function openPostgresStore({ scope = 'shop', ...options }: pg.PoolConfig & { scope?: string } = {}) {
  const tablePrefix = uniqueName('store');
  const table = `${tablePrefix}_rows`;
  const pool = postgresPool(options);
  /** Makes another store over the same table. */
  const storeOf = (over: pg.Pool = pool, given: Partial<PostgresStoreOptions> = {}) =>
    postgresStore(over, { scope, tablePrefix, ...given });
  const store = storeOf();
  await store.migrate();
  const close = async () => {
    await pool.query(`drop table if exists ${table}`);
    await pool.end();
  };
  return { store, storeOf, pool, scope, tablePrefix, table, close };
}
