// What one PostgreSQL bears of plans, drains and sweeps, in a database of its own.
import { randomUUID } from 'node:crypto';
import { createWebhookHandler, type Fetch, GatewayClient } from 'payment-gateway-sdk';
import { type PostgresJournal, postgresJournal } from 'payment-gateway-sdk/postgres';
import pg from 'pg';
import { watchedPool } from '../test/support/watched-pool.ts';
import { median } from './statistics.ts';

const PLANS = 2_000;
const IN_FLIGHT = 16;
export const FINAL = 1_000_000;
export const OPEN = 100;

/** Milliseconds of planning and running statements, without the commits. */
interface DatabaseTime {
  ms: number;
  statements: number;
}

export interface Outbox {
  /** Transactions of an order per second: without a plan, with one, and with one that notifies nobody. */
  orders: number;
  plans: number;
  quietPlans: number;
  /** Planned creates that are sent per second, by one worker and by three. */
  drains: number;
  drainsByThree: number;
  /** A sweep of {@link OPEN} open payments beside {@link FINAL} final ones, and the next one, for which nothing is due. */
  sweep: DatabaseTime;
  emptySweep: DatabaseTime;
  /** What the sweep has used beside the primary key. */
  indexes: string[];
}

const request = () =>
  ({
    paymentType: 'WITHDRAWAL',
    paymentMethod: 'SEPA',
    amount: '25.50',
    currency: 'EUR',
    reference: randomUUID(),
    webhookUrl: 'https://shop.example/callbacks',
  }) as const;

/** Answers by id. */
const made = new Map<string, string>();

/** A gateway that answers at once: what is measured is the database. */
const fetch: Fetch = async (url, { method, body }) => {
  const id = method === 'POST' ? randomUUID() : url.slice(-36);
  if (method === 'POST') {
    const asked = JSON.parse(Buffer.from(body ?? []).toString());
    made.set(id, JSON.stringify({ ...asked, id, paymentStatus: 'PENDING' }));
  }
  return new Response(made.get(id) ?? '{}', { status: 200 });
};
const options = { baseUrl: 'https://gateway.example', apiKey: 'bench-api-key', signKey: 'bench-sign-key', fetch };

export async function outbox(rounds: number): Promise<Outbox> {
  const admin = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database: 'postgres', max: 1 });
  const database = `bench_${randomUUID().replaceAll('-', '')}`;
  await admin.query(`CREATE DATABASE ${database}`);
  const open = () => new pg.Pool({ host: '127.0.0.1', user: 'postgres', database, max: 20 });
  const pools = [open(), open(), open()] as const;
  const [pool] = pools;
  const journalOf = (of: pg.Pool, notify = true) => postgresJournal(of, { scope: 'bench', notify });
  const journal = journalOf(pool);
  await journal.migrate();
  await pool.query('CREATE TABLE orders (reference text PRIMARY KEY, amount numeric NOT NULL)');

  const order = async (planning?: PostgresJournal) => {
    const one = request();
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query('INSERT INTO orders VALUES ($1, $2)', [one.reference, one.amount]);
    await planning?.plan(client, one);
    await client.query('COMMIT');
    client.release();
  };
  const perSecond = async (count: number, work: () => Promise<unknown>) => {
    const begun = performance.now();
    await work();
    return count / ((performance.now() - begun) / 1000);
  };
  const orders = (planning?: PostgresJournal) =>
    perSecond(PLANS, async () => {
      let left = PLANS;
      const lane = async () => {
        while (left-- > 0) await order(planning);
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
    });
  const drain = (workers: readonly pg.Pool[]) =>
    perSecond(PLANS, () =>
      Promise.all(
        workers.map(of =>
          new GatewayClient({ ...options, journal: journalOf(of) }).drain({ limit: PLANS, concurrency: IN_FLIGHT }),
        ),
      ),
    );

  const seen: Record<'orders' | 'plans' | 'quietPlans' | 'drains' | 'drainsByThree', number[]> = {
    orders: [],
    plans: [],
    quietPlans: [],
    drains: [],
    drainsByThree: [],
  };
  for (let round = -1; round < rounds; round++) {
    const one = {
      orders: await orders(),
      plans: await orders(journal),
      drains: await drain([pool]),
      quietPlans: await orders(journalOf(pool, false)),
      drainsByThree: await drain(pools),
    };
    // The first round warms up.
    if (round >= 0) for (const [name, value] of Object.entries(one)) seen[name as keyof typeof seen].push(value);
  }

  const gateway = new GatewayClient({ ...options, journal });
  await pool.query('TRUNCATE payment_gateway_journal');
  await pool.query(`INSERT INTO payment_gateway_journal
    SELECT 'bench', 'final-' || n, 'created', 3, now() - interval '1 day', NULL, NULL, json_build_object(
      'attemptId', gen_random_uuid(), 'timeoutMs', 30000, 'conflictingIds', '[]'::json, 'looks', 0,
      'paymentType', 'WITHDRAWAL', 'paymentMethod', 'SEPA', 'amount', '25.5', 'currency', 'EUR',
      'bodyHash', repeat('0', 64), 'paymentId', gen_random_uuid()) FROM generate_series(1, ${FINAL}) n`);
  for (let index = 0; index < OPEN; index++) await gateway.createPayment(request());
  await pool.query('VACUUM ANALYZE payment_gateway_journal');
  const probe = await pool.connect();
  const plans = new Set<string>();
  let ms = 0;
  let statements = 0;
  /** Each statement runs twice: the first time it is measured, alone and undone. */
  const measure = async (text: string, values: unknown[]) => {
    await probe.query('BEGIN');
    const { rows } = await probe.query(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${text}`, values);
    await probe.query('ROLLBACK');
    const [plan] = rows[0]['QUERY PLAN'];
    ms += plan['Planning Time'] + plan['Execution Time'];
    statements += 1;
    for (const [index] of JSON.stringify(plan).matchAll(/payment_gateway_journal_\w+/g)) plans.add(index);
  };
  let measured: Promise<void> = Promise.resolve();
  const measuring = watchedPool(pool, async (text, values, send) => {
    measured = measured.then(() => measure(text, values));
    await measured;
    return send();
  });
  const sweeping = new GatewayClient({ ...options, journal: postgresJournal(measuring, { scope: 'bench' }) });
  const handler = createWebhookHandler({ gateway: sweeping, onPayment: () => {}, onEvent: () => {} });
  const sweepOf = async (count: number) => {
    [ms, statements] = [0, 0];
    const swept = await sweeping.sweep({ handler, olderThan: 0 });
    if (swept.open !== count) throw new Error(`The sweep has found ${JSON.stringify(swept)}.`);
    if (statements === 0) throw new Error('No statement of the sweep was seen: the journal asks in another way.');
    return { ms, statements };
  };
  const sweep = await sweepOf(OPEN);
  const emptySweep = await sweepOf(0);

  probe.release();
  await Promise.all(pools.map(of => of.end()));
  await admin.query(`DROP DATABASE ${database}`);
  await admin.end();
  const medians = Object.fromEntries(Object.entries(seen).map(([name, values]) => [name, median(values)]));
  return { ...(medians as Record<keyof typeof seen, number>), sweep, emptySweep, indexes: [...plans] };
}

if (import.meta.main) console.log(await outbox(3));
