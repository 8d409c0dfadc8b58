// What ends the transaction of onPayment past its tx, and other accidents, in the SQL of each database.
import { rawClientOf } from './credits.ts';
import { type Database, overPostgres } from './database.ts';
import type { Server } from './databases.ts';
import { postgresPool, uniqueName } from './stores.ts';

export interface Meddling {
  /** A pool that lends one connection at a time: the next payment gets the very one of the payment before. */
  database: Database;
  /** Runs what tx refuses in its transaction. */
  past(tx: unknown, sql: string): Promise<unknown>;
  /** Statements that fail: with any error, with one after which the transaction is repeated, with a cut connection. */
  error: string;
  deadlock: string;
  cut: string;
  /** A statement that takes a moment. */
  nap: string;
}

/** With the pool's own client, as a library below might. */
function inPostgres(): Meddling {
  const pool = postgresPool({ max: 2 });
  const raw = rawClientOf(pool);
  return {
    database: overPostgres(pool),
    past: (_, sql) => raw().query(sql),
    error: 'select 1/0',
    deadlock: `do $$ begin raise exception 'met another' using errcode = '40P01'; end $$`,
    cut: 'select pg_terminate_backend(pg_backend_pid())',
    nap: 'select pg_sleep(0.01)',
  };
}

/** With a procedure: the database refuses nothing in it, and nobody sees into it from outside. */
async function inMysql(server: Server): Promise<Meddling> {
  const database = await server.open({ max: 2 });
  return {
    database,
    async past(tx, sql) {
      const procedure = uniqueName('meddle');
      await database.query(`create procedure ${procedure}() begin ${sql}; end`);
      try {
        return await database.queryIn(tx)(`call ${procedure}()`);
      } finally {
        await database.query(`drop procedure ${procedure}`);
      }
    },
    error: `signal sqlstate '45000'`,
    deadlock: `signal sqlstate '40001' set mysql_errno = 1213, message_text = 'met another'`,
    cut: 'kill connection_id()',
    nap: 'do sleep(0.01)',
  };
}

export const openMeddling = async (server: Server): Promise<Meddling> =>
  server.name === 'Postgres' ? inPostgres() : inMysql(server);
