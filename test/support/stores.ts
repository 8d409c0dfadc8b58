// The real stores that tests run against, and whether this machine has them.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import pg from 'pg';

export const POSTGRES = { host: '127.0.0.1', port: 5432, user: 'postgres', database: 'test' };
const REDIS = { host: '127.0.0.1', port: 6379 };

const answers = ({ host, port }: { host: string; port: number }) =>
  new Promise<boolean>(resolve => {
    const socket = connect({ host, port, timeout: 1000 });
    const settle = (is: boolean) => {
      socket.destroy();
      resolve(is);
    };
    socket
      .once('connect', () => settle(true))
      .once('error', () => settle(false))
      .once('timeout', () => settle(false));
  });

export const hasPostgres = await answers(POSTGRES);
export const hasRedis = await answers(REDIS);

/** A name that no other test has. */
export const uniqueName = (prefix: string): string => `${prefix}_${randomBytes(6).toString('hex')}`;

export const postgresPool = (options: pg.PoolConfig = {}): pg.Pool => {
  const pool = new pg.Pool({ ...POSTGRES, ...options });
  pool.on('error', () => {});
  return pool;
};
