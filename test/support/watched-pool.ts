// A pool of pg whose statements are seen, or answered, by a test.
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
