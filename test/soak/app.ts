// One process of the soak's merchant: customers click, payouts are planned, callbacks and upkeep run, until a kill.
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { createWebhookHandler, GatewayClient, isGatewayError, toNodeHandler } from '../../src/index.ts';
import { inTransaction } from '../support/stores.ts';
import type { Command, Report } from './messages.ts';
import { between, seeded } from './seeded.ts';
import {
  checkoutOf,
  type Effect,
  openShop,
  otherPrice,
  payoutOf,
  type ShopOrder,
  type ShopPayout,
  TIMEOUT,
} from './shop.ts';

const { SEED = '', NAME = '', DATABASE = '', GATEWAY_URL, API_KEY, SIGN_KEY } = process.env;
/** Milliseconds: the age of a payment whose callback counts as lost, and the pause between clicks on one order. */
const OLDER_THAN = 3_000;
/** Milliseconds after a payment when upkeep looks for a chargeback, and for the functions of one callback. */
const RECHECKS = [6_000, 15_000];
const EFFECT_TIMEOUT = 2_000;
/** The probability of an effect that hangs, and of one that fails after its write. */
const HANGING = 0.02;
const FAILING = 0.03;

const random = seeded(SEED, NAME);
const report = (message: Report) => void (process.connected && process.send?.(message));
let counts: Record<string, number> = {};
const count = (what: string, by = 1) => {
  counts[what] = (counts[what] ?? 0) + by;
};

const { pool, store } = openShop(DATABASE, 6);
const gateway = new GatewayClient({
  baseUrl: GATEWAY_URL,
  apiKey: API_KEY,
  signKey: SIGN_KEY,
  timeout: TIMEOUT,
  store,
  signCallbackUrls: true,
  onEvent: event => {
    if (event.type === 'store') count(`create: ${event.change}`);
    if (event.type === 'warning') count(`warning: ${event.code}`);
  },
});

type Tx = Pick<PoolClient, 'query'>;
const resting = new AbortController();
const { signal } = resting;
const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => {});

/** Writes an effect, and sometimes hangs or fails after that. */
async function effect(tx: Tx, { what, owner, payment_id, amount }: Effect): Promise<void> {
  const values = [what, owner, payment_id, amount];
  await tx.query('insert into effects (what, owner, payment_id, amount) values ($1, $2, $3, $4)', values);
  if (signal.aborted) return;
  const luck = random();
  if (luck < HANGING) {
    count('effect: hung');
    await new Promise(() => {});
  }
  if (luck < HANGING + FAILING) {
    count('effect: failed');
    throw new Error('The shop failed after its write.');
  }
}
type Told = { order?: string | undefined; reference: string; payment: { id: string; amount: number | string } };
const effectOf = (what: Effect['what'], { order, reference, payment }: Told): Effect => ({
  ...{ what, owner: order ?? reference, payment_id: payment.id, amount: String(payment.amount) },
});
const move = (tx: Tx, order: string | undefined, state: ShopOrder['state'], from = state) =>
  tx.query('update orders set state = $2 where id = $1 and state in ($3, $4)', [order, state, from, 'open']);

const handler = createWebhookHandler<Tx>({
  gateway,
  effectTimeout: EFFECT_TIMEOUT,
  async onPaid(paid, { tx }) {
    await move(tx, paid.order, 'paid', 'review');
    await effect(tx, effectOf('paid', paid));
  },
  async onReversed(reversed, { tx }) {
    await move(tx, reversed.order, 'open', 'paid');
    await effect(tx, effectOf('reversed', reversed));
  },
  onPaidOut: (paid, { tx }) => effect(tx, effectOf('paid_out', paid)),
  onPayoutFailed: (failed, { tx }) => effect(tx, effectOf(failed.wasPaidOut ? 'taken_back' : 'payout_failed', failed)),
  async onReview({ order, payment, reason }, { tx }) {
    count(`review: ${reason}`);
    if (payment?.paymentStatus === 'COMPLETED') await move(tx, order, 'review');
  },
  onError: () => {},
  onEvent: event => event.type === 'callback' && count(`callback: ${event.result}, ${event.lane}`),
});

const SURPRISES: ReadonlySet<string> = new Set([
  'InvalidRequestError',
  'ConfigurationError',
  'DuplicateReferenceError',
]);
/** Counts errors that a fault explains. Any other ends the process, and the judge sees that. */
async function expecting(what: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    // The database was too busy.
    if (error instanceof Error && /^(The store did not answer within|Half of the pool was in use)/.test(error.message))
      return count(`${what}: the store was late`);
    if (!isGatewayError(error)) throw error;
    if (SURPRISES.has(error.name)) report({ type: 'surprise', text: `${what}: ${error.name}: ${error.message}` });
    else count(`${what}: ${error.name}`);
  }
}

const newAmount = () => `${between(random, 1, 900)}.${between(random, 10, 99)}`;

/** A click on "pay", rarely with another method or basket. */
const click = ({ id, amount }: Pick<ShopOrder, 'id' | 'amount'>) =>
  expecting('checkout', async () => {
    const price = !signal.aborted && random() < 0.1 ? otherPrice(amount) : amount;
    const method = random() < 0.1 ? 'GOOGLEPAY' : 'CARD';
    const { state } = await gateway.checkout(id, checkoutOf(price, method));
    count(`checkout: ${state}`);
    if (state === 'canceled') await move(pool, id, state);
  });

const ORDER = 'insert into orders (id, way, amount) values ($1, $2, $3) on conflict do nothing';

/** Some gateways trim references and change capitals. */
const newId = (what: string) => `${what}-${randomUUID()}`;

async function orderAlone(): Promise<void> {
  const order = { id: newId('Order'), amount: newAmount() };
  await pool.query(ORDER, [order.id, 'alone', order.amount]);
  await Promise.all(Array.from({ length: between(random, 1, 3) }, () => click(order)));
  if (random() > 0.03) return;
  await expecting('cancel', async () => {
    if (await gateway.cancelOrder(order.id)) await move(pool, order.id, 'canceled', 'review');
  });
}

/** The processes share a clock, so they click on the same order in the same moment. */
async function orderAtOnce(): Promise<void> {
  const slot = Math.ceil((Date.now() + 1) / 1_000);
  await pause(slot * 1_000 - Date.now());
  if (signal.aborted) return;
  const order = { id: `Slot-${slot}`, amount: '12.50' };
  await pool.query(ORDER, [order.id, 'at once', order.amount]);
  await click(order);
}

const owe = () =>
  expecting('payOut', () =>
    inTransaction(
      pool,
      async client => {
        const payout = { id: newId('Payout') + (random() < 0.2 ? ' ' : ''), amount: newAmount() };
        await client.query('insert into payouts (id, amount) values ($1, $2)', [payout.id, payout.amount]);
        await gateway.payOut(client, payoutOf(payout));
      },
      random() < 0.1 ? 'rollback' : 'commit',
    ),
  );

/** Plans a payout again that was refused, or settled as not created. */
async function lookAtPayout(payout: ShopPayout): Promise<void> {
  const { state } = (await gateway.find(payout.id)) ?? {};
  if (state === 'created') await pool.query("update payouts set state = 'created' where id = $1", [payout.id]);
  if (state !== 'freed') return;
  const refused = (await gateway.reviews()).find(({ id }) => id === payout.id);
  if (refused) await gateway.resolveReview(payout.id, refused.status);
  await inTransaction(pool, client => gateway.payOut(client, payoutOf(payout)));
  count('payout: planned again');
}

const dueOf = async <Row>(table: string, olderThan: number, limit: number): Promise<Row[]> => {
  const due = `update ${table} set looked_at = now() where id in (
    select id from ${table} where state = 'open' and looked_at <= now() - $1 * interval '1 millisecond'
    order by looked_at limit $2 for update skip locked) returning *`;
  return (await pool.query(due, [olderThan, limit])).rows;
};
async function retry(olderThan: number, limit: number): Promise<void> {
  for (const order of await dueOf<ShopOrder>('orders', olderThan, limit)) await click(order);
  for (const payout of await dueOf<ShopPayout>('payouts', olderThan, limit))
    await expecting('payOut again', () => lookAtPayout(payout));
}

const upkeep = (once: boolean, olderThan: number) =>
  expecting('upkeep', async () => {
    const { swept, sent } = await gateway.upkeep({ handler, signal, once, olderThan, recheckAfter: RECHECKS });
    for (const [what, many] of Object.entries({ ...swept, ...sent })) count(`upkeep: ${what}`, many);
  });

async function repeat(ms: number, work: () => Promise<unknown>): Promise<void> {
  while (!signal.aborted) {
    await work();
    await pause(ms * (0.5 + random()));
  }
}

/** Half of the processes also run the endless upkeep. */
const isWorker = random() < 0.5;
const running = Promise.all([
  repeat(500, orderAlone),
  repeat(100, orderAtOnce),
  repeat(700, owe),
  repeat(1_000, () => retry(OLDER_THAN, 10)),
  repeat(2_000, () => upkeep(true, OLDER_THAN)),
  isWorker ? upkeep(false, OLDER_THAN) : undefined,
]);

const isOnLinux = existsSync('/proc/self/fd');
/** Open sockets by the system, where it shows them: Node may have forgotten some. */
function socketsOf(): number {
  if (!isOnLinux) return process.getActiveResourcesInfo().filter(name => name.includes('TCP')).length;
  return readdirSync('/proc/self/fd').filter(fd => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
    } catch {
      return false;
    }
  }).length;
}

function sample(): void {
  globalThis.gc?.();
  const held = { heap: process.memoryUsage().heapUsed / 2 ** 20, sockets: socketsOf() };
  report({ type: 'sample', held, counts });
  counts = {};
}
const sampling = setInterval(sample, 2_000);

process.on('disconnect', () => process.exit());
process.on('message', async ({ type }: Command) => {
  if (type === 'rest') {
    clearInterval(sampling);
    resting.abort();
    await running;
  } else {
    await retry(0, 10_000);
    await expecting('upkeep', () => gateway.upkeep({ handler, once: true, olderThan: 0, recheckAfter: RECHECKS }));
  }
  sample();
  report({ type });
});

const server = createServer(toNodeHandler(handler));
server.listen(0, '127.0.0.1', () => report({ type: 'app', port: (server.address() as AddressInfo).port }));
