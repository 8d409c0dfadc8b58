// The soak: a gateway that fails at random, processes of a merchant that are killed at random, and at the end a judge. With
// --write its summary goes into docs/soak.md.
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { GatewayClient, isGatewayError } from '../../src/index.ts';
import { type Facts, fold, growths, judge, thirdsOf } from './judge.ts';
import type { Booked, FromApp, FromGateway, Held, ToApp, ToGateway } from './messages.ts';
import { between, seeded } from './seeded.ts';
import { openShop, SCHEMA, SETTLE_MARGIN, TIMEOUT, type Want } from './shop.ts';
import { type Soaked, summaryOf, write } from './summary.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const minutes = Number(positionals[0] ?? 15);
if (!(minutes > 0)) throw new Error('Say for how many minutes: npm run soak -- 15');
const seed = values.seed ?? randomBytes(4).toString('hex');
console.log(
  `A soak of ${minutes} minutes, seed ${seed}. To play the same faults again: npm run soak -- ${minutes} --seed ${seed}`,
);

/** Of the merchant's processes so many are killed; one more is spared, and what it holds is measured. */
const KILLED = 3;
/** Milliseconds between two kills, and between two looks of an operator. */
const KILLS = [2_000, 6_000] as const;
const OPERATOR = 10_000;
/** Minutes. Before that a process still warms up, and what is rare may not have happened. */
const LONG = 10;
/** How many rounds of sweeps, drains and retries may pass until nothing is left to do. */
const ROUNDS = 20;

const database = `soak_${randomBytes(6).toString('hex')}`;
const admin = new pg.Client({ host: '127.0.0.1', user: 'postgres', database: 'postgres' });
await admin.connect();
await admin.query(`create database ${database}`);
const { pool, journal, inbox } = openShop(database, 4);
await Promise.all([journal.migrate(), inbox.migrate(), pool.query(SCHEMA)]);

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const execArgv = [...process.execArgv, '--expose-gc'];
const environment = (own: Record<string, string>) => ({ ...process.env, NODE_ENV: '', SEED: seed, ...own });

/** What no fault explains. */
const surprises: string[] = [];
const children = new Set<ChildProcess>();
function start(file: string, own: Record<string, string>): ChildProcess {
  const child = fork(script(file), { execArgv, env: environment(own) });
  children.add(child);
  child.once('exit', (code, signal) => {
    children.delete(child);
    if (signal !== 'SIGKILL' && !isOver) surprises.push(`${file} ended by itself: ${signal ?? code}`);
  });
  return child;
}
let isOver = false;

const gatewayProcess = start('gateway.ts', {});

/** The next message of its type: those of other types may come in between, and at once. */
function heard<M extends { type: string }, T extends M['type']>(
  child: ChildProcess,
  type: T,
): Promise<Extract<M, { type: T }>> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error(`A process has ended before it was ${type}.`));
    child.once('exit', fail);
    const listen = (message: M) => {
      if (message.type !== type) return;
      child.off('message', listen);
      child.off('exit', fail);
      resolve(message as Extract<M, { type: T }>);
    };
    child.on('message', listen);
  });
}
const answerOf = <T extends FromGateway['type']>(type: T) => heard<FromGateway, T>(gatewayProcess, type);

/** Asks the gateway's process one thing at a time. */
let asking: Promise<unknown> = Promise.resolve();
function ask<T extends FromGateway['type']>(message: ToGateway, type: T): Promise<Extract<FromGateway, { type: T }>> {
  const asked = asking.then(async () => {
    gatewayProcess.send(message);
    return answerOf(type);
  });
  asking = asked;
  return asked;
}
const { url, apiKey, signKey } = await answerOf('ready');

const counts: Record<string, number> = {};
const held: Held[] = [];
const ports = new Map<ChildProcess, number>();
const begun = performance.now();
const tellPorts = () => gatewayProcess.send({ type: 'shops', ports: [...ports.values()] } satisfies ToGateway);

function startApp(name: string, onMessage: (message: FromApp) => void = () => {}): ChildProcess {
  const options = { NAME: name, DATABASE: database, GATEWAY_URL: url, API_KEY: apiKey, SIGN_KEY: signKey };
  const app = start('app.ts', options);
  app.on('message', (message: FromApp) => {
    if (message.type === 'ready') {
      ports.set(app, message.port);
      tellPorts();
    }
    if (message.type === 'sample') {
      for (const [what, many] of Object.entries(message.counts)) counts[what] = (counts[what] ?? 0) + many;
    }
    if (message.type === 'surprise') surprises.push(message.text);
    onMessage(message);
  });
  app.once('exit', () => {
    ports.delete(app);
    if (gatewayProcess.connected) tellPorts();
  });
  return app;
}

/** Not while it rests: what a process holds then says nothing of the load. */
let isLoaded = true;
const spared = startApp('spared', message => {
  if (message.type !== 'sample' || !isLoaded) return;
  held.push({ ...message.held, at: performance.now() - begun });
});
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
    const app = apps[between(random, 0, KILLED - 1)];
    // Its successor may still be starting: that, too, is a moment to die.
    if (app?.kill('SIGKILL')) kills += 1;
  }
}

// The operator's own client: it asks the gateway's support about each doubt, and believes what that says.
const gateway = new GatewayClient({ baseUrl: url, apiKey, signKey, timeout: TIMEOUT, journal });
let settled = 0;
/** The gateway fails for operators as well, a callback may be quicker, and the database busy: they look again later. */
async function trying(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isGatewayError(error)) throw error;
  }
}
async function settleDoubts(): Promise<void> {
  const doubts = (await gateway.inDoubt()).filter(
    ({ since, underWay }) => !underWay && since.getTime() < Date.now() - TIMEOUT - SETTLE_MARGIN,
  );
  if (doubts.length === 0) return;
  const { payments } = await ask({ type: 'ask', references: doubts.map(({ reference }) => reference) }, 'answer');
  for (const { reference, paymentId, conflictingIds } of doubts) {
    const own = payments.filter(payment => fold(payment.reference) === fold(reference));
    const known = [paymentId, ...conflictingIds].filter(id => id !== undefined);
    await trying(async () => {
      if (own[0]) await gateway.settle(reference, own[0].id, { despite: ['reference', 'amount'] });
      else await gateway.settle(reference, 'not_created', known.length > 0 ? { despite: ['paymentId'] } : {});
      settled += 1;
    });
  }
}
const operate = () => trying(settleDoubts);
async function operateNowAndThen(): Promise<void> {
  while (!over.signal.aborted) {
    await pause(OPERATOR);
    if (!over.signal.aborted) await operate();
  }
}

/** Sends, and waits until all have answered. */
async function all(type: ToApp['type'], answer: FromApp['type']): Promise<void> {
  const answers = [spared, ...apps].map(app => {
    const answered = heard<FromApp, FromApp['type']>(app, answer);
    app.send({ type } satisfies ToApp);
    return answered;
  });
  await Promise.all(answers);
}

/** What is left to do. */
async function leftOf(): Promise<{ wants: number; rows: number }> {
  const { rows } = await pool.query(`select (select count(*) from wants where state = 'open')::int as wants,
    (select count(*) from payment_gateway_journal where state in ('begun', 'planned') or due_at is not null)::int as rows`);
  return rows[0];
}

/** Time passes: what was leased by the dead is free, and everything is due. */
const age = () =>
  pool.query(`update payment_gateway_journal set begun_at = begun_at - interval '1 hour', leased_until = null,
    due_at = least(due_at, now()) where state in ('begun', 'planned') or due_at is not null`);

async function comeToRest(): Promise<number> {
  for (let round = 1; round <= ROUNDS; round++) {
    await ask({ type: 'calm' }, 'calm');
    await age();
    await operate();
    await all('upkeep', 'kept');
    const { wants, rows } = await leftOf();
    if (wants + rows === 0) return round;
  }
  surprises.push(`After ${ROUNDS} rounds there was still something to do: ${JSON.stringify(await leftOf())}`);
  return ROUNDS;
}

async function readFacts(payments: readonly Booked[]): Promise<Facts> {
  const rowsOf = async (sql: string) => (await pool.query(sql)).rows;
  const [uncertain] = await rowsOf('select count(*)::int as n from payment_gateway_inbox where handled_at is null');
  return {
    wants: (await rowsOf('select * from wants')) as Want[],
    effects: await rowsOf('select payment_id, status, amount::float8 from effects order by seq'),
    told: await rowsOf('select * from told'),
    journal: await rowsOf('select reference, state from payment_gateway_journal'),
    uncertain: uncertain.n as number,
    payments,
  };
}

const countOf = (...what: string[]) => what.reduce((sum, name) => sum + (counts[name] ?? 0), 0);

const REFUSED = 'of these, refused by the gateway for good';
const SETTLED = 'doubts that an operator settled';
const RARE: ReadonlySet<string> = new Set([REFUSED, SETTLED]);

/** What processes had counted and not told when they were killed is missing: those say "at least". */
function happenedOf({ wants, effects, payments }: Facts, { calls, callbacks }: { calls: number; callbacks: number }) {
  const wantsOf = (way: Want['way']) => wants.filter(want => want.way === way).length;
  return [
    ['references that one process wanted', wantsOf('alone')],
    ['references that all processes wanted at once', wantsOf('at once')],
    ['references that were planned in a transaction', wantsOf('planned')],
    [REFUSED, wants.filter(({ state }) => state === 'refused').length],
    ['payments in the books of the gateway', payments.length],
    ['statuses that took effect', effects.length],
    ['of these, by a sweep (at least)', countOf('callback: ran, sweep')],
    ['processes killed', kills],
    ['calls that the gateway took', calls],
    ['callbacks that it posted', callbacks],
    ['creates answered with the payment of an earlier one (at least)', countOf('journal: replayed')],
    [
      'creates stopped because their reference was in doubt (at least)',
      countOf('create: PaymentInDoubtError, unknown'),
    ],
    ['doubts that a callback, a sweep or a lookup settled (at least)', countOf('journal: settled')],
    [SETTLED, settled],
    ['rounds of upkeep at the end', rounds],
  ] as const;
}
let rounds = 0;

async function soak(): Promise<Soaked> {
  const working = Promise.all([kill(), operateNowAndThen()]);
  await Promise.race([delay(minutes * 60_000), working]);
  over.abort();
  await working;
  // The last that was killed has its successor as well.
  while (apps.some(app => app.killed || !ports.has(app))) await delay(50);
  isLoaded = false;
  await all('rest', 'resting');
  rounds = await comeToRest();
  const { payments, faults, ...books } = await ask({ type: 'books' }, 'books');
  const facts = await readFacts(payments);
  const happened = happenedOf(facts, books);
  const thirds = thirdsOf(held);
  const isLong = minutes >= LONG;
  const problems = [
    ...surprises,
    ...judge(facts),
    ...happened
      .filter(([what, count]) => count === 0 && (isLong || !RARE.has(what)))
      .map(([what]) => `not played: ${what}`),
    ...(isLong ? growths(thirds) : []),
  ];
  const machine = `with ${cpus().length} cores and Node ${process.versions.node}`;
  return { minutes, seed, machine, happened, faults, thirds, samples: held.length, problems };
}

async function close(): Promise<void> {
  isOver = true;
  for (const child of children) child.kill('SIGKILL');
  await pool.end();
  await admin.query(`drop database ${database} with (force)`);
  await admin.end();
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => close().finally(() => process.exit(1)));

try {
  const soaked = await soak();
  const summary = summaryOf(soaked);
  console.log(`\n${summary}\n`);
  for (const problem of soaked.problems) console.log(`PROBLEM ${problem}`);
  if (values.write) write(summary);
  process.exitCode = soaked.problems.length === 0 ? 0 : 1;
} catch (error) {
  for (const surprise of surprises) console.log(`PROBLEM ${surprise}`);
  throw error;
} finally {
  await close();
}
