// Pools whose statements are seen, or answered, by a test.
import type { Pool } from 'mysql2/promise';
import type pg from 'pg';

/** Stands around a statement that is sent. */
export type AroundSql = <T>(text: string, values: unknown[], send: () => Promise<T>) => Promise<T>;

/** The pool, with something around each statement that a store sends by one of its clients. */
export const watchedPool = (pool: Pick<pg.Pool, 'connect'>, around: AroundSql): pg.Pool =>
  ({
    query() {
      throw new Error('A store asks a client.');
    },
    async connect() {
      const client = await pool.connect();
      const query = (text: string, values: unknown[] = []) => around(text, values, () => client.query(text, values));
      return new Proxy(client, {
        get(target, name) {
          if (name === 'query') return query;
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  }) as unknown as pg.Pool;

/** The same over mysql2. */
export const watchedMysql = (
  pool: Pick<Pool, 'getConnection'>,
  around: (sql: string, send: () => Promise<unknown>) => Promise<unknown>,
  onConnection: () => Promise<void> = async () => {},
): Pool => {
  const getConnection = async () => {
    await onConnection();
    const connection = await pool.getConnection();
    const query = (asked: { sql?: string } | string, values?: []) =>
      around(typeof asked === 'string' ? asked : String(asked.sql), () => connection.query(asked as never, values));
    return { query, release: () => connection.release(), destroy: () => connection.destroy() };
  };
  return { config: {}, getConnection } as never;
};
