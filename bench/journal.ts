// What a create with a journal in Postgres takes, beside a plain create and the two commits that it cannot do without.
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { GatewayClient } from 'payment-gateway-sdk';
import { postgresJournal } from 'payment-gateway-sdk/postgres';
import pg from 'pg';
import { watchedPool } from '../test/support/watched-pool.ts';
import { median } from './statistics.ts';

const CREATES = 1_000;

export interface Journalled {
  name: string;
  /** Milliseconds. */
  p50: number;
  p99: number;
  perSecond: number;
  statements: number;
}

/** @param inFlight creates at once */
export async function journal(rounds: number, inFlight: number): Promise<Journalled[]> {
  const server = fork(new URL('server.ts', import.meta.url), { execArgv: ['--no-warnings'] });
  const [[baseUrl]] = await once(server, 'message');
  const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database: 'test', max: 20 });
  const table = `bench_${randomUUID().replaceAll('-', '')}`;
  let statements = 0;
  const counted = watchedPool(pool, (_text, _values, send) => {
    statements += 1;
    return send();
  });
  const store = postgresJournal(counted, { table, scope: 'bench' });
  await store.migrate();
  await pool.query(`CREATE TABLE ${table}_two (reference text PRIMARY KEY, state text NOT NULL)`);

  const options = { baseUrl, apiKey: 'bench-api-key', signKey: 'bench-sign-key' };
  const [plain, journalled] = [new GatewayClient(options), new GatewayClient({ ...options, journal: store })];
  const request = () =>
    ({
      paymentMethod: 'CARD',
      amount: '25.50',
      currency: 'EUR',
      reference: randomUUID(),
      webhookUrl: 'https://shop.example/callbacks',
    }) as const;
  const commit = (text: string, values: unknown[]) => {
    statements += 1;
    return pool.query(text, values);
  };
  const ways: Record<string, () => Promise<unknown>> = {
    'a plain create': () => plain.createDeposit(request()),
    'a plain create and two commits': async () => {
      const one = request();
      await commit(`INSERT INTO ${table}_two VALUES ($1, 'begun')`, [one.reference]);
      await plain.createDeposit(one);
      await commit(`UPDATE ${table}_two SET state = 'created' WHERE reference = $1`, [one.reference]);
    },
    'a create with postgresJournal': () => journalled.createDeposit(request()),
  };

  const seen = new Map<string, Omit<Journalled, 'name'>[]>();
  for (let round = -1; round < rounds; round++) {
    for (const [name, way] of Object.entries(ways)) {
      const times: number[] = [];
      statements = 0;
      let left = CREATES;
      const begun = performance.now();
      const lane = async () => {
        while (left-- > 0) {
          const started = performance.now();
          await way();
          times.push(performance.now() - started);
        }
      };
      await Promise.all(Array.from({ length: inFlight }, lane));
      const perSecond = CREATES / ((performance.now() - begun) / 1000);
      times.sort((a, b) => a - b);
      const [p50 = 0, p99 = 0] = [0.5, 0.99].map(share => times[Math.floor(times.length * share)]);
      // The first round warms up.
      if (round >= 0) {
        seen.set(name, [...(seen.get(name) ?? []), { p50, p99, perSecond, statements: statements / CREATES }]);
      }
    }
  }
  await pool.query(`DROP TABLE ${table}, ${table}_two`);
  await pool.end();
  server.kill();
  return [...seen].map(([name, all]) => ({
    name,
    p50: median(all.map(one => one.p50)),
    p99: median(all.map(one => one.p99)),
    perSecond: median(all.map(one => one.perSecond)),
    statements: median(all.map(one => one.statements)),
  }));
}

if (import.meta.main) {
  for (const inFlight of [1, 16]) console.table(await journal(5, inFlight));
}
