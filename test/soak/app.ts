// One process of the soak's merchant: it orders, creates, plans, drains, sweeps and takes callbacks, until it is killed.
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import {
  createWebhookHandler,
  GatewayClient,
  type GatewayEvent,
  isGatewayError,
  toNodeHandler,
} from '../../src/index.ts';
import type { FromApp, Held, ToApp } from './messages.ts';
import { between, seeded } from './seeded.ts';
import { openShop, requestOf, TIMEOUT, type Want } from './shop.ts';

const { SEED = '', NAME = '', DATABASE = '', GATEWAY_URL, API_KEY, SIGN_KEY } = process.env;
/** Milliseconds: how old a payment is before its callback counts as lost, and a want before it is looked at again. */
const OLDER_THAN = 3_000;
/** Milliseconds: how long a customer waits for a create that is under way elsewhere, and between two clicks. */
const PATIENCE = 2_000;
const AGAIN = 100;

const random = seeded(SEED, NAME);
const tell = (message: FromApp) => void (process.connected && process.send?.(message));
let counts: Record<string, number> = {};
const count = (what: string, by = 1) => {
  counts[what] = (counts[what] ?? 0) + by;
};

const { pool, journal, inbox } = openShop(DATABASE, 6);
const gateway = new GatewayClient({
  baseUrl: GATEWAY_URL,
  apiKey: API_KEY,
  signKey: SIGN_KEY,
  timeout: TIMEOUT,
  journal,
  signCallbackUrls: true,
  onEvent: (event: GatewayEvent) => {
    if (event.type === 'journal') count(`journal: ${event.change}`);
    if (event.type === 'warning') count(`warning: ${event.code}`);
    if (event.type === 'failure' && event.operation === 'create') count(`create: ${event.error}, ${event.outcome}`);
  },
});
const handler = createWebhookHandler({
  gateway,
  inbox,
  onPayment: async (payment, { tx }) => {
    const { id, reference, amount } = payment;
    const status = payment.paymentStatus === 'UNKNOWN' ? payment.rawPaymentStatus : payment.paymentStatus;
    const values = [id, reference, status, amount];
    await tx.query('insert into effects (payment_id, reference, status, amount) values ($1, $2, $3, $4)', values);
  },
  onEvent: event => event.type === 'callback' && count(`callback: ${event.result}, ${event.lane}`),
});

/** What a fault explains is counted; anything else ends the process, which the judge sees. */
async function expecting(what: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    // A scheduler tries again where the database was too busy.
    if (isLate(error)) return count(`${what}: the journal was late`);
    if (!isGatewayError(error)) throw error;
    if (SURPRISES.has(error.name)) tell({ type: 'surprise', text: `${what}: ${error.name}: ${error.message}` });
    else count(`${what}: ${error.name}`);
    if (error.name === 'ApiError' && error.outcome === 'rejected' && error.status === 422) throw new Refused();
  }
}
const SURPRISES: ReadonlySet<string> = new Set([
  'InvalidRequestError',
  'ConfigurationError',
  'DuplicateReferenceError',
]);
class Refused extends Error {}
const isLate = (error: unknown) =>
  error instanceof Error && error.message.startsWith('The journal did not answer within');

/** @returns whether it is worth another try */
async function create(want: Want): Promise<boolean> {
  const { reference } = want;
  let isOpen = true;
  try {
    await expecting('create', async () => {
      const { payment } = await gateway.createPayment(requestOf(want));
      await pool.query('insert into told values ($1, $2) on conflict do nothing', [reference, payment.id]);
      await pool.query("update wants set state = 'created' where reference = $1", [reference]);
      isOpen = false;
    });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    isOpen = false;
    await pool.query("update wants set state = 'refused' where reference = $1 and state = 'open'", [reference]);
  }
  return isOpen;
}

const WANT = 'insert into wants (reference, way, payment_type, amount) values ($1, $2, $3, $4) on conflict do nothing';

/** White space and capitals are what some gateways lose. */
const newReference = () => `Order-${randomUUID()}${random() < 0.2 ? ' ' : ''}`;
const newAmount = () => `${between(random, 1, 900)}.${between(random, 10, 99)}`;
const newType = () => (random() < 0.5 ? 'DEPOSIT' : 'WITHDRAWAL');

async function order(want: Want): Promise<boolean> {
  await pool.query(WANT, [want.reference, want.way, want.payment_type, want.amount]);
  return create(want);
}

const orderAlone = () =>
  order({ reference: newReference(), way: 'alone', payment_type: newType(), amount: newAmount(), state: 'open' });

/** The processes have one clock, and so want the same at the same moment. */
const orderAtOnce = async () => {
  const slot = Math.ceil((Date.now() + 1) / 1_000);
  await pause(slot * 1_000 - Date.now());
  if (resting.signal.aborted) return;
  const payment_type = slot % 2 ? 'DEPOSIT' : 'WITHDRAWAL';
  const want: Want = { reference: `Slot-${slot}`, way: 'at once', payment_type, amount: '12.50', state: 'open' };
  const patience = performance.now() + PATIENCE;
  // As somebody who clicks "pay" again and again: where the first create was refused, all others begin at once.
  for (let isOpen = await order(want); isOpen && performance.now() < patience; isOpen = await create(want)) {
    await pause(AGAIN);
    if (resting.signal.aborted) return;
  }
};

async function inTransaction(work: (client: PoolClient) => Promise<'commit' | 'rollback'>) {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query(await work(client));
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

const orderPlanned = () =>
  expecting('plan', () =>
    inTransaction(async client => {
      const want = { reference: newReference(), payment_type: newType(), amount: newAmount() } as const;
      await client.query(WANT, [want.reference, 'planned', want.payment_type, want.amount]);
      await journal.plan(client, requestOf(want));
      return random() < 0.1 ? 'rollback' : 'commit';
    }),
  );

/** A plan that was refused, or settled without a payment, is free: nothing sends it unless it is planned again. */
async function lookAtPlan(want: Want): Promise<void> {
  const { reference } = want;
  const { state } = (await gateway.find(reference)) ?? {};
  if (state === 'created') await pool.query("update wants set state = 'created' where reference = $1", [reference]);
  if (state !== 'freed') return;
  count('planned again');
  await inTransaction(async client => {
    await journal.plan(client, requestOf(want));
    return 'commit';
  });
}

const DUE = `update wants set looked_at = now() where reference in (
  select reference from wants where state = 'open' and looked_at <= now() - $1 * interval '1 millisecond'
  order by looked_at limit $2 for update skip locked) returning *`;

/** What is wanted and not known to be paid is created again, with the same reference. */
async function retry(olderThan: number, limit: number): Promise<void> {
  const { rows } = await pool.query<Want>(DUE, [olderThan, limit]);
  for (const want of rows) {
    if (want.way === 'planned') await expecting('plan again', () => lookAtPlan(want));
    else await create(want);
  }
}

const drain = (options: { follow: boolean; signal?: AbortSignal }) =>
  expecting('drain', async () => {
    const drained = await gateway.drain(options);
    for (const [what, many] of Object.entries(drained)) count(`drain: ${what}`, many);
  });
const sweep = (olderThan: number, signal?: AbortSignal) =>
  expecting('sweep', async () => {
    const swept = await gateway.sweep({ handler, olderThan, signal });
    for (const [what, many] of Object.entries(swept)) count(`sweep: ${what}`, many);
  });

const resting = new AbortController();
const pause = (ms: number) => delay(ms, undefined, { signal: resting.signal }).catch(() => {});

async function repeat(ms: number, work: () => Promise<unknown>): Promise<void> {
  while (!resting.signal.aborted) {
    await work();
    await pause(ms * (0.5 + random()));
  }
}

const { signal } = resting;
/** One process is enough to follow, and any may be killed. */
const follows = random() < 0.5;
const running = Promise.all([
  repeat(500, orderAlone),
  repeat(100, orderAtOnce),
  repeat(700, orderPlanned),
  repeat(1_000, () => retry(OLDER_THAN, 10)),
  repeat(1_000, () => drain({ follow: follows, signal })),
  repeat(2_000, () => sweep(OLDER_THAN, signal)),
]);

async function upkeep(): Promise<void> {
  await retry(0, 10_000);
  await drain({ follow: false });
  await sweep(0);
}

const isOnLinux = existsSync('/proc/self/fd');
/** Open descriptors of sockets, where the system tells: also of those that Node has forgotten. */
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

const MEGABYTE = 2 ** 20;
function sample(): void {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  const resources = process.getActiveResourcesInfo().length;
  const held: Omit<Held, 'at'> = { heap: heapUsed / MEGABYTE, rss: rss / MEGABYTE, sockets: socketsOf(), resources };
  tell({ type: 'sample', held, counts });
  counts = {};
}
const sampling = setInterval(sample, 2_000);

process.on('disconnect', () => process.exit());
process.on('message', async ({ type }: ToApp) => {
  if (type === 'exit') process.exit();
  if (type === 'rest') {
    clearInterval(sampling);
    resting.abort();
    await running;
    sample();
    tell({ type: 'resting' });
  }
  if (type === 'upkeep') {
    await upkeep();
    sample();
    tell({ type: 'kept' });
  }
});

const server = createServer(toNodeHandler(handler));
server.listen(0, '127.0.0.1', () => tell({ type: 'ready', port: (server.address() as AddressInfo).port }));
