// The cost of a store in PostgreSQL: a create, a checkout, and a callback with `onPaid`.
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWebhookHandler, GatewayClient } from 'payment-gateway-sdk';
import { postgresStore } from 'payment-gateway-sdk/postgres';
import { openDatabase } from './database.ts';
import { quickGateway } from './quick-gateway.ts';
import { alternate, type Calls, median, timeCalls } from './statistics.ts';

const CALLS = 1_000;

export interface Stored extends Calls {
  name: string;
  /** Per call. */
  statements: number;
}

const order = { paymentMethod: 'CARD', amount: '25.50', currency: 'EUR' } as const;

/** @returns a row for each way of a create, and for each way of a callback */
export async function stores(rounds: number, inFlight: number): Promise<{ creates: Stored[]; callbacks: Stored[] }> {
  const server = fork(new URL('server.ts', import.meta.url), { execArgv: ['--no-warnings'] });
  const [[baseUrl]] = await once(server, 'message');
  const database = await openDatabase();
  const pool = database.open();
  const store = postgresStore(pool, { scope: 'bench' });
  await store.migrate();
  await pool.query('CREATE TABLE two (reference text PRIMARY KEY, state text NOT NULL)');
  await pool.query('CREATE TABLE marks (id text PRIMARY KEY)');
  await pool.query('CREATE TABLE orders (id text PRIMARY KEY, paid boolean NOT NULL DEFAULT false)');

  const measure = async (call: (index: number) => Promise<unknown>): Promise<Omit<Stored, 'name'>> => {
    let calls: Calls | undefined;
    const { statements } = await database.workOf(async () => {
      calls = await timeCalls(CALLS, inFlight, call);
    });
    return { ...(calls as Calls), statements: statements / CALLS };
  };
  const rowsOf = (seen: Map<string, Omit<Stored, 'name'>[]>): Stored[] =>
    [...seen].map(([name, all]) => {
      const of = (figure: keyof Omit<Stored, 'name'>) => median(all.map(one => one[figure]));
      return { name, p50: of('p50'), p99: of('p99'), perSecond: of('perSecond'), statements: of('statements') };
    });

  const options = { baseUrl, apiKey: 'api-key', signKey: 'sign-key', webhookUrl: 'https://shop.example/callbacks' };
  const [plain, stored] = [new GatewayClient(options), new GatewayClient({ ...options, store })];
  let ids: string[] = [];
  const creates = await alternate(rounds, {
    'a plain create': () => measure(() => plain.createDeposit({ ...order, reference: randomUUID() })),
    'a plain create and two commits': () =>
      measure(async () => {
        const reference = randomUUID();
        await pool.query("INSERT INTO two VALUES ($1, 'begun')", [reference]);
        await plain.createDeposit({ ...order, reference });
        await pool.query("UPDATE two SET state = 'created' WHERE reference = $1", [reference]);
      }),
    'a create with a store': () => measure(() => stored.createDeposit({ ...order, reference: randomUUID() })),
    '`checkout`, the first click': () => {
      ids = Array.from({ length: CALLS }, () => randomUUID());
      return measure(index => stored.checkout(ids[index] ?? '', order));
    },
    '`checkout`, the second click': () => measure(index => stored.checkout(ids[index] ?? '', order)),
  });

  const { options: quick, show } = quickGateway();
  const gateway = new GatewayClient({ ...quick, store });
  const handler = createWebhookHandler({
    gateway,
    onPaid: ({ order: id }, { tx }) => tx.query('UPDATE orders SET paid = true WHERE id = $1', [id]),
  });
  let paymentIds: string[] = [];
  /** Makes an order with an open payment for each callback. */
  const prepare = async () => {
    show('PENDING');
    paymentIds = [];
    await timeCalls(CALLS, 16, async () => {
      const id = randomUUID();
      await pool.query('INSERT INTO orders (id) VALUES ($1)', [id]);
      paymentIds.push((await gateway.checkout(id, order)).payment?.id ?? '');
    });
    show('COMPLETED');
  };
  const callBack = async (index: number) => {
    const body = JSON.stringify({
      ...order,
      id: paymentIds[index],
      paymentStatus: 'COMPLETED',
      paymentType: 'DEPOSIT',
    });
    const { status } = await handler(new Request('https://shop.example', { method: 'POST', body }));
    if (status !== 200) throw new Error(`A callback was answered ${status}.`);
  };
  const callbacks = await alternate(rounds, {
    'a lookup and a transaction by hand': async () => {
      await prepare();
      return measure(async index => {
        const { id, reference } = await gateway.getPayment(paymentIds[index] ?? '');
        const client = await pool.connect();
        await client.query('BEGIN');
        await client.query('INSERT INTO marks VALUES ($1)', [id]);
        await client.query('UPDATE orders SET paid = true WHERE id = $1', [reference?.slice(0, -2)]);
        await client.query('COMMIT');
        client.release();
      });
    },
    'a callback with `onPaid`': async () => {
      await prepare();
      return measure(callBack);
    },
    'the same callback again': () => measure(callBack),
  });
  await database.close();
  server.kill();
  return { creates: rowsOf(creates), callbacks: rowsOf(callbacks) };
}

if (import.meta.main) {
  for (const inFlight of [1, 16]) {
    const { creates, callbacks } = await stores(3, inFlight);
    console.table([...creates, ...callbacks]);
  }
}
