// Listens to a channel of Postgres, on one connection of a pool.
import { aborted, withSignal } from '../deadline.ts';
import { type SqlDatabase, sizeOf } from '../sql/database.ts';
import { lend, type PgClient, type PgPool, type PgTx } from './pg.ts';

export const listenOver =
  (pool: PgPool): Required<SqlDatabase<PgTx>>['listen'] =>
  async (channel, onNotice, signal) => {
    // In a smaller pool, effects would leave no connection for the merchant.
    if (sizeOf(pool.options?.max) < 4) return aborted(signal);
    const lending = lend(pool);
    try {
      const client = (await withSignal(lending, signal)).client as PgClient & NodeJS.EventEmitter;
      const lost = Promise.withResolvers<never>();
      client.on('notification', () => onNotice());
      for (const event of ['error', 'end'])
        client.on(event, (error = new Error('The connection that listens has ended.')) => lost.reject(error));
      client.query(`LISTEN "${channel}"`).catch(lost.reject);
      await withSignal(lost.promise, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      // Closes it also if it arrives later. Its listeners stay, because an error without one would end the process.
      lending.then(({ release }) => release(true)).catch(() => {});
    }
  };
