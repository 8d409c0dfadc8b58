// A PostgreSQL database for one benchmark. It counts statements, and sums their time in the database by step.
import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** Statements so far, and milliseconds in the database. */
export interface Work {
  statements: number;
  ms: number;
}

const SERVER = { host: '127.0.0.1', user: 'postgres' };
/** Sends the durations to the client, and only there. */
const TIMED = '-c log_min_duration_statement=0 -c client_min_messages=log -c log_min_messages=panic';
/** A statement is parsed, then bound, which plans it, then executed. */
const DURATION = /^duration: ([\d.]+) ms +(\w+)[^:]*: (.*)/s;
/** Characters that identify a statement. */
const LONGEST_TEXT = 60;

export async function openDatabase() {
  const admin = new pg.Pool({ ...SERVER, database: 'postgres', max: 1 });
  const database = `bench_${randomUUID().replaceAll('-', '')}`;
  await admin.query(`CREATE DATABASE ${database}`);
  const work: Work = { statements: 0, ms: 0 };
  const steps = new Map<string, number>();
  class Client extends pg.Client {
    override query(...args: never[]): never {
      work.statements += 1;
      return super.query(...(args as [never])) as never;
    }
  }
  const pools: pg.Pool[] = [];
  return {
    /** Milliseconds of each step so far. */
    steps,
    /** @param isTimed whether to sum the time in the database */
    open({ isTimed = false, max = 20 } = {}): pg.Pool {
      const pool = new pg.Pool({ ...SERVER, database, max, Client, ...(isTimed && { options: TIMED }) });
      pool.on('connect', client =>
        client.on('notice', ({ message = '' }) => {
          const [, ms = 0, name = '', text = ''] = DURATION.exec(message) ?? [];
          const step = `${name} ${text.replace(/\s+/g, ' ').slice(0, LONGEST_TEXT)}`;
          work.ms += Number(ms);
          steps.set(step, (steps.get(step) ?? 0) + Number(ms));
        }),
      );
      // DROP DATABASE also ends connections that are still closing.
      pool.on('error', () => {});
      pools.push(pool);
      return pool;
    },
    /** Measures the work of a call. */
    async workOf(call: () => Promise<unknown>): Promise<Work> {
      const { statements, ms } = work;
      await call();
      return { statements: work.statements - statements, ms: work.ms - ms };
    },
    async close(): Promise<void> {
      await Promise.all(pools.map(pool => pool.end()));
      await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
      await admin.end();
    },
  };
}
