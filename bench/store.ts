// The cost of a store in PostgreSQL: a create, a checkout, and a callback with `onPaid`.
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWebhookHandler, GatewayClient, type Store } from 'payment-gateway-sdk';
import { postgresStore } from 'payment-gateway-sdk/postgres';
import type pg from 'pg';
import { openDatabase } from './database.ts';
import { quickGateway } from './quick-gateway.ts';
import { alternate, type Calls, type Line, timeCalls } from './statistics.ts';

const CALLS = 300;

/** The statements of one call. */
type Stored = Calls & { statements: number };

const COMMITS = 'with two commits';
const CREATE = 'a create with a store';
const FIRST = '`checkout`, the first click';
const SECOND = '`checkout`, the second click';
const BY_HAND = 'by hand';
const CALLBACK = 'a callback with `onPaid`';
const AGAIN = 'the same callback again';
/** With `prepare: true`. */
const [CREATE_PREPARED, CALLBACK_PREPARED] = [`${CREATE}, prepared`, `${CALLBACK}, prepared`];

export const ORDER = { paymentMethod: 'CARD', amount: '25.50', currency: 'EUR' } as const;

/** The tables of the merchant. */
export const TABLES = `CREATE TABLE two (reference text PRIMARY KEY, state text NOT NULL);
  CREATE TABLE marks (id text PRIMARY KEY);
  CREATE TABLE orders (id text PRIMARY KEY, paid boolean NOT NULL DEFAULT false)`;

/** Callbacks of completed payments, each of an order. @param store of the client that opens the orders */
export function openCallbacks(pool: pg.Pool, store: Store) {
  const { options, show } = quickGateway();
  const gateway = new GatewayClient({ ...options, store });
  return {
    gateway,
    /** Opens orders, and completes their payments. @returns the payments' ids */
    async open(count: number): Promise<string[]> {
      const ids: string[] = [];
      show('PENDING');
      await timeCalls(count, 16, async () => {
        const id = randomUUID();
        await pool.query('INSERT INTO orders (id) VALUES ($1)', [id]);
        ids.push((await gateway.checkout(id, ORDER)).payment?.id ?? '');
      });
      show('COMPLETED');
      return ids;
    },
    callBackOver(store: Store<Pick<pg.PoolClient, 'query'>>) {
      const handler = createWebhookHandler({
        gateway: new GatewayClient({ ...options, store }),
        onPaid: ({ order: id }, { tx }) => tx.query('UPDATE orders SET paid = true WHERE id = $1', [id]),
      });
      return async (id = '') => {
        const body = JSON.stringify({ ...ORDER, id, paymentStatus: 'COMPLETED', paymentType: 'DEPOSIT' });
        const { status } = await handler(new Request('https://shop.example', { method: 'POST', body }));
        if (status !== 200) throw new Error(`A callback was answered ${status}.`);
      };
    },
  };
}

export async function stores(rounds: number, inFlight: number): Promise<Line[]> {
  const server = fork(new URL('server.ts', import.meta.url), { execArgv: ['--no-warnings'] });
  const [baseUrl] = await once(server, 'message');
  const database = await openDatabase();
  const pool = database.open();
  const store = postgresStore(pool, { scope: 'bench' });
  const prepared = postgresStore(pool, { scope: 'bench', prepare: true });
  await store.migrate();
  await pool.query(TABLES);

  const measure = async (call: (index: number) => Promise<unknown>): Promise<Stored> => {
    let calls: Calls | undefined;
    const { statements } = await database.workOf(async () => {
      calls = await timeCalls(CALLS, inFlight, call);
    });
    return { ...(calls as Calls), statements: statements / CALLS };
  };
  const options = { baseUrl, apiKey: 'api-key', signKey: 'sign-key', webhookUrl: 'https://shop.example/callbacks' };
  const [plain, stored, storedPrepared] = [{}, { store }, { store: prepared }].map(
    own => new GatewayClient({ ...options, ...own }),
  ) as [GatewayClient, GatewayClient, GatewayClient];
  let ids: string[] = [];
  const creates = await alternate(rounds, {
    [COMMITS]: () =>
      measure(async () => {
        const reference = randomUUID();
        await pool.query("INSERT INTO two VALUES ($1, 'begun')", [reference]);
        await plain.createDeposit({ ...ORDER, reference });
        await pool.query("UPDATE two SET state = 'created' WHERE reference = $1", [reference]);
      }),
    [CREATE]: () => measure(() => stored.createDeposit({ ...ORDER, reference: randomUUID() })),
    [CREATE_PREPARED]: () => measure(() => storedPrepared.createDeposit({ ...ORDER, reference: randomUUID() })),
    [FIRST]: () => {
      ids = Array.from({ length: CALLS }, () => randomUUID());
      return measure(index => stored.checkout(ids[index] ?? '', ORDER));
    },
    [SECOND]: () => measure(index => stored.checkout(ids[index] ?? '', ORDER)),
  });

  const { gateway, open, callBackOver } = openCallbacks(pool, store);
  const [callBack, callBackPrepared] = [callBackOver(store), callBackOver(prepared)];
  let opened: string[] = [];
  const callbacks = await alternate(rounds, {
    [BY_HAND]: async () => {
      const ids = await open(CALLS);
      return measure(async index => {
        const { id, reference } = await gateway.getPayment(ids[index] ?? '');
        const client = await pool.connect();
        await client.query('BEGIN');
        await client.query('INSERT INTO marks VALUES ($1)', [id]);
        await client.query('UPDATE orders SET paid = true WHERE id = $1', [reference?.slice(0, -2)]);
        await client.query('COMMIT');
        client.release();
      });
    },
    [CALLBACK]: async () => {
      opened = await open(CALLS);
      return measure(index => callBack(opened[index]));
    },
    [AGAIN]: () => measure(index => callBack(opened[index])),
    [CALLBACK_PREPARED]: async () => {
      opened = await open(CALLS);
      return measure(index => callBackPrepared(opened[index]));
    },
  });
  await database.close();
  server.kill();

  const lineOf = (seen: (name: string) => Stored[], name: string, of: string): Line => {
    const p50 = (scene: string) => seen(scene).map(one => one.p50);
    const statements = Math.round(seen(name)[0]?.statements ?? 0);
    const what = `${name}, ${inFlight} in flight, ${statements} statements`;
    return { what, unit: 'ms', ours: p50(name), of, theirs: p50(of) };
  };
  const perSecond = (what: string): Line => ({
    what: `${what}, per second`,
    unit: '',
    ours: callbacks(what).map(one => one.perSecond),
    least: 2_500,
  });
  return [
    { ...lineOf(creates, CREATE, COMMITS), most: 1.4 },
    { ...lineOf(creates, CREATE_PREPARED, COMMITS), most: 1.4 },
    lineOf(creates, FIRST, COMMITS),
    lineOf(creates, SECOND, COMMITS),
    lineOf(callbacks, CALLBACK, BY_HAND),
    lineOf(callbacks, CALLBACK_PREPARED, BY_HAND),
    lineOf(callbacks, AGAIN, BY_HAND),
    ...(inFlight > 1 ? [CALLBACK, CALLBACK_PREPARED].map(perSecond) : []),
  ];
}
