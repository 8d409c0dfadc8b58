// The soak: a gateway with random faults, processes of a merchant with random kills, and a judge at the end.
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { GatewayClient, isGatewayError } from '../../src/index.ts';
import { SoakGateway } from './gateway.ts';
import { type Facts, fold, growths, judge, reviewedOrder } from './judge.ts';
import type { Command, Held, Report } from './messages.ts';
import { between, seeded } from './seeded.ts';
import { openShop, SCHEMA, SETTLE_MARGIN, TIMEOUT } from './shop.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { seed: { type: 'string' } } });
const minutes = Number(positionals[0] ?? 15);
if (!(minutes > 0)) throw new Error('Pass a number of minutes: npm run soak -- 15');
const seed = values.seed ?? randomBytes(4).toString('hex');
console.log(`A soak of ${minutes} minutes. For the same faults: npm run soak -- ${minutes} --seed ${seed}`);

/** The number of processes that are killed. One more is spared, and its resources are measured. */
const KILLED = 3;
/** Milliseconds between two kills, and between two rounds of the operator. */
const KILLS = [2_000, 6_000] as const;
const OPERATOR = 5_000;
/** Minutes until a process has warmed up, and rare events have happened. */
const LONG = 10;
/** The maximum number of rounds until no work is left. */
const ROUNDS = 30;

const database = `soak_${randomBytes(6).toString('hex')}`;
const admin = new pg.Client({ host: '127.0.0.1', user: 'postgres', database: 'postgres' });
await admin.connect();
await admin.query(`create database ${database}`);
const { pool, store } = openShop(database, 4);
await Promise.all([store.migrate(), pool.query(SCHEMA)]);

/** Events that no fault explains. */
const surprises: string[] = [];
const surprise = (text: string) => void surprises.push(text);
const children = new Set<ChildProcess>();
/** The ports of the running processes, for callbacks. */
const ports = new Map<ChildProcess, number>();
const books = new SoakGateway(seed, ports, surprise);
const server = await books.sandbox.listen();
const { apiKey, signKey } = books.sandbox.clientOptions;
/** The processes that have a command. */
const answers = new Map<ChildProcess, PromiseWithResolvers<void>>();

const counts: Record<string, number> = {};
const held: Held[] = [];
const begun = performance.now();
let isOver = false;
/** False in the end phase, when resources are not measured. */
let isLoaded = true;

function startApp(name: string): ChildProcess {
  const app = fork(fileURLToPath(new URL('app.ts', import.meta.url)), {
    execArgv: [...process.execArgv, '--expose-gc'],
    env: {
      ...{ ...process.env, NODE_ENV: '', SEED: seed, NAME: name, DATABASE: database },
      ...{ GATEWAY_URL: server.url, API_KEY: apiKey, SIGN_KEY: signKey },
    },
  });
  children.add(app);
  app.on('message', (message: Report) => {
    if (message.type === 'app') ports.set(app, message.port);
    if (message.type === 'surprise') surprise(message.text);
    if (message.type === 'rest' || message.type === 'finish') answers.get(app)?.resolve();
    if (message.type !== 'sample') return;
    for (const [what, many] of Object.entries(message.counts)) counts[what] = (counts[what] ?? 0) + many;
    if (app === spared && isLoaded) held.push({ ...message.held, at: performance.now() - begun });
  });
  app.once('exit', (code, signal) => {
    children.delete(app);
    ports.delete(app);
    answers.get(app)?.reject(new Error(`The process ${name} ended before its answer.`));
    if (signal !== 'SIGKILL' && !isOver) surprise(`The process ${name} ended by itself: ${signal ?? code}`);
  });
  return app;
}

/** Sends a command to all processes, and waits for their answers. */
const all = (type: Command['type']) =>
  Promise.all(
    [spared, ...apps].map(app => {
      const answer = Promise.withResolvers<void>();
      answers.set(app, answer);
      app.send({ type } satisfies Command);
      return answer.promise;
    }),
  );

const spared = startApp('spared');
const apps: ChildProcess[] = [];
let started = 0;
function startKilled(index: number): void {
  started += 1;
  const app = startApp(`${index}/${started}`);
  apps[index] = app;
  app.once('exit', () => isLoaded && !isOver && startKilled(index));
}
for (let index = 0; index < KILLED; index++) startKilled(index);

const over = new AbortController();
const pause = (ms: number) => delay(ms, undefined, { signal: over.signal }).catch(() => {});

let kills = 0;
async function kill(): Promise<void> {
  const random = seeded(seed, 'kills');
  for (;;) {
    await pause(between(random, ...KILLS));
    if (over.signal.aborted) return;
    // A process may die during its start, too.
    if (apps[between(random, 0, KILLED - 1)]?.kill('SIGKILL')) kills += 1;
  }
}

const gateway = new GatewayClient({ baseUrl: server.url, apiKey, signKey, timeout: TIMEOUT, store });
let settled = 0;
let resolved = 0;
/** The gateway fails for operators too, and a callback may be faster. The next round tries again. */
async function trying(work: () => Promise<void>): Promise<void> {
  await work().catch(error => {
    if (!isGatewayError(error)) throw error;
  });
}
/** Settles every old doubt by the gateway's books. */
async function settleDoubts(): Promise<void> {
  const doubts = (await gateway.doubts()).filter(
    ({ since, underWay }) => !underWay && since.getTime() < Date.now() - TIMEOUT - SETTLE_MARGIN,
  );
  if (doubts.length === 0) return;
  const { payments } = books.sandbox;
  for (const { reference, paymentId, conflictingIds } of doubts) {
    const own = payments.find(payment => fold(payment.reference) === fold(reference));
    const hasIds = paymentId !== undefined || conflictingIds.length > 0;
    await trying(async () => {
      if (own) await gateway.settle(reference, own.id, { despite: ['reference', 'amount'] });
      else await gateway.settle(reference, 'not_created', hasIds ? { despite: ['paymentId'] } : {});
      settled += 1;
    });
  }
}
/** Closes the reviews of statuses that the gateway showed by mistake. */
async function resolveUnknown(): Promise<void> {
  for (const { id, status, reason } of await gateway.reviews()) {
    if (reason !== 'unknown_status') continue;
    await trying(async () => {
      await gateway.resolveReview(id, status);
      resolved += 1;
    });
  }
}
/** Time passes: a pause of sending takes at least a minute. */
const endPause = () =>
  pool.query(
    `update payment_gateway_rows set data = '{"until":1,"pauseMs":0}' where kind = 'gateway' and id = 'outage'`,
  );
async function operate(): Promise<void> {
  await trying(settleDoubts);
  await trying(resolveUnknown);
  await endPause();
}
async function operateUntilOver(): Promise<void> {
  for (;;) {
    await pause(OPERATOR);
    if (over.signal.aborted) return;
    await operate();
  }
}

/** The effects are an hour old, so that their rechecks are due. */
const AGED = `case when data::text like '%"effectAt"%' then jsonb_set(data::jsonb, '{effectAt}',
  to_jsonb(floor(extract(epoch from now()) * 1000) - 3600000))::json else data end`;

/** Time passes: the leases of killed processes end, and everything is due. */
const age = () =>
  pool.query(`update payment_gateway_rows set begun_at = begun_at - interval '1 hour', leased_until = null,
    data = ${AGED}, due_at = least(due_at, now()) where kind = 'create' and (state in ('begun', 'planned') or due_at is not null)`);

const rowsOf = async (sql: string) => (await pool.query(sql)).rows;
async function isDone(): Promise<boolean> {
  const [left] = await rowsOf(`select (select count(*) from payouts where state = 'open') + (select count(*)
    from payment_gateway_rows where kind = 'create' and (state in ('begun', 'planned') or due_at is not null)) as n`);
  const reviewed = new Set((await gateway.reviews()).map(reviewedOrder));
  const open = (await rowsOf("select id from orders where state = 'open'")).filter(({ id }) => !reviewed.has(fold(id)));
  return Number(left.n) + open.length === 0;
}

async function comeToRest(): Promise<number> {
  for (let round = 1; round <= ROUNDS; round++) {
    await books.calm();
    await age();
    await operate();
    await all('finish');
    if (await isDone()) return round;
    await delay(500);
  }
  const left = await rowsOf(`select id, state, due_at, data from payment_gateway_rows
    where kind = 'create' and (state in ('begun', 'planned') or due_at is not null) limit 3`);
  surprise(`After ${ROUNDS} rounds, work was left: ${JSON.stringify(left)}`);
  return ROUNDS;
}

const readFacts = async (): Promise<Facts> => ({
  orders: await rowsOf('select * from orders'),
  payouts: await rowsOf('select * from payouts'),
  effects: await rowsOf('select * from effects order by seq'),
  reviews: await gateway.reviews(),
  creates: await rowsOf("select id as reference, state from payment_gateway_rows where kind = 'create'"),
  payments: books.sandbox.payments,
});

/** Counts the events. A short run may lack the rare ones. Counts with "at least" lack the last reports of killed processes. */
function happenedOf({ orders, payouts, effects, reviews, payments }: Facts, rounds: number) {
  const { seen } = books;
  const countOf = (name: string) => counts[name] ?? 0;
  const effectsOf = (what: string) => effects.filter(effect => effect.what === what).length;
  return [
    ['orders that one process wanted', orders.filter(({ way }) => way === 'alone').length],
    ['orders that all processes wanted at once', orders.filter(({ way }) => way === 'at once').length],
    ['payouts that were planned in a transaction', payouts.length],
    ['payments in the books of the gateway', payments.length],
    ['orders paid', effectsOf('paid')],
    ['orders reversed', effectsOf('reversed')],
    ['payouts paid out', effectsOf('paid_out')],
    ['payouts failed or taken back', effectsOf('payout_failed') + effectsOf('taken_back')],
    ['second payments of orders, for review', reviews.filter(({ reason }) => reason === 'already_paid').length, 'rare'],
    ['reviews that an operator closed', resolved, 'rare'],
    ['statuses handled by upkeep (at least)', countOf('callback: ran, sweep')],
    ['chargebacks', seen.chargebacks],
    ['chargebacks without a callback', seen.lostChargebacks],
    ['hanging effects (at least)', countOf('effect: hung'), 'rare'],
    ['failing effects (at least)', countOf('effect: failed'), 'rare'],
    ['bursts of equal callbacks', seen.bursts],
    ['processes killed', kills],
    ['calls that the gateway took', seen.calls],
    ['callbacks that it posted', seen.callbacks],
    ['doubts that an operator settled', settled, 'rare'],
    ['rounds of upkeep at the end', rounds],
  ] as [what: string, count: number, isRare?: 'rare'][];
}

/** @returns the problems */
async function soak(): Promise<string[]> {
  const working = Promise.all([kill(), operateUntilOver()]);
  await Promise.race([delay(minutes * 60_000), working]);
  over.abort();
  await working;
  // The last killed process has a successor too.
  while (apps.some(app => app.killed || !ports.has(app))) await delay(50);
  isLoaded = false;
  await all('rest');
  const rounds = await comeToRest();
  const facts = await readFacts();
  const happened = happenedOf(facts, rounds);
  console.table(Object.fromEntries(happened));
  console.table(books.faults);
  const isLong = minutes >= LONG;
  const missing = happened.filter(([, count, isRare]) => count === 0 && (isLong || !isRare));
  const unplayed = missing.map(([what]) => `not played: ${what}`);
  return [...surprises, ...judge(facts), ...unplayed, ...(isLong ? growths(held) : [])];
}

async function close(): Promise<void> {
  isOver = true;
  for (const child of children) child.kill('SIGKILL');
  await Promise.all([server.close(), pool.end()]);
  await admin.query(`drop database ${database} with (force)`);
  await admin.end();
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => close().finally(() => process.exit(1)));

try {
  const problems = await soak();
  for (const problem of problems) console.log(`PROBLEM ${problem}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} catch (error) {
  for (const surprise of surprises) console.log(`PROBLEM ${surprise}`);
  throw error;
} finally {
  await close();
}
