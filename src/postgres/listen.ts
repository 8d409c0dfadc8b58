// Listens to a channel of Postgres, on one connection of a pool.
import { aborted, withSignal } from '../deadline.ts';
import { type SqlDatabase, sizeOf } from '../sql/database.ts';
import { lend, type PgClient, type PgPool, type PgTx } from './pg.ts';

/** Smaller pools leave no connection for the merchant while effects use half of them. */
const SMALLEST_POOL = 4;

/** @throws the driver's error, as soon as the connection is lost */
export const listenOver =
  (pool: PgPool): Required<SqlDatabase<PgTx>>['listen'] =>
  async (channel, onNotice, signal) => {
    if (sizeOf(pool.options?.max) < SMALLEST_POOL) return aborted(signal);
    const lending = lend(pool);
    try {
      const { client } = await withSignal(lending, signal);
      const events = client as PgClient & NodeJS.EventEmitter;
      const lost = Promise.withResolvers<never>();
      events.on('notification', () => onNotice());
      for (const event of ['error', 'end'])
        events.on(event, (error = new Error('The connection that listens has ended.')) => lost.reject(error));
      client.query(`LISTEN "${channel}"`).catch(lost.reject);
      await withSignal(lost.promise, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      // It may arrive later. Closing keeps it out of the pool. Its listeners stay, because a later error without one would
      // end the process.
      lending.then(({ release }) => release(true)).catch(() => {});
    }
  };
