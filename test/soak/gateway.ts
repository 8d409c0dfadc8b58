// The gateway of the soak: the sandbox over HTTP in a separate process. Its faults change every few seconds, its
// payments move by themselves, and some deposits are charged back.
import { setTimeout as delay } from 'node:timers/promises';
import { FAULTS, type Fault, isCallbackFault, isCreateFault, takesMs } from '../../src/sandbox/faults/kinds.ts';
import { Sandbox } from '../../src/sandbox/index.ts';
import type { Booked, Command, Report } from './messages.ts';
import { between, seeded } from './seeded.ts';

const { SEED = '' } = process.env;
/** Milliseconds until the faults change. */
const WEATHER = 5_000;
/** The highest probability of each fault. */
const MOST = { create: 0.06, lookup: 0.06, callback: 0.2 };
const COUNT = 1_000_000_000;
/** The probability of a burst, its number of equal callbacks, and the probability of a chargeback and of its loss. */
const BURST = 0.03;
const BURST_SIZE = 20;
const CHARGEBACK = 0.1;
const LOST = 0.5;

const random = seeded(SEED, 'faults');
const moves = seeded(SEED, 'moves');
let ports: number[] = [];
const seen = { calls: 0, callbacks: 0, bursts: 0, chargebacks: 0, lostChargebacks: 0 };
/** Payments whose callbacks are lost from now on. */
const lost = new Set<string>();
let isCalm = false;

const sandbox = new Sandbox({
  seed: SEED,
  // The judge needs all of its books.
  maxPayments: 1_000_000,
  maxDeliveries: 1_000,
  // As a load balancer does. A process that has just died loses the callback.
  fetch: async (url, init) => {
    seen.callbacks += 1;
    const { pathname, search } = new URL(url);
    if (lost.has(JSON.parse(String(init?.body)).id)) return new Response();
    const post = () =>
      fetch(`http://127.0.0.1:${ports[between(random, 0, ports.length - 1)]}${pathname}${search}`, init);
    if (isCalm || random() > BURST) return post();
    seen.bursts += 1;
    const answers = await Promise.allSettled(Array.from({ length: BURST_SIZE }, post));
    const answer = answers.find(one => one.status === 'fulfilled')?.value;
    if (!answer) throw new Error('No process took a callback of the burst.');
    return answer;
  },
  onEvent: event => {
    if (event.type !== 'request') return;
    seen.calls += 1;
    if (event.method === 'POST' && event.paymentId) lives.push(live(event.paymentId));
  },
});

/** The running lives of payments. */
const lives: Promise<void>[] = [];

/** A payment's life: perhaps it is authorized, then it ends, and perhaps it is charged back. */
async function live(id: string): Promise<void> {
  const [first, second, third] = [between(moves, 20, 2_500), between(moves, 20, 1_500), between(moves, 20, 2_000)];
  const [isAuthorized, end, back, loss] = [moves() < 0.25, moves(), moves() < CHARGEBACK, moves() < LOST];
  await delay(first);
  try {
    if (isAuthorized) {
      await sandbox.authorize(id);
      await delay(second);
    }
    if (end >= 0.9) await sandbox.cancel(id);
    else if (end >= 0.75) await sandbox.fail(id, { code: 4004 });
    else await sandbox.complete(id);
    if (end >= 0.75 || !back) return;
    await delay(third);
    if (loss) lost.add(id);
    seen[loss ? 'lostChargebacks' : 'chargebacks'] += 1;
    await sandbox.fail(id, { force: true });
  } catch (error) {
    // A fault has completed the payment before the answer to its create.
    if ((error as { code?: string }).code !== 'final_state') throw error;
  }
}

/** The number of injections of each fault. */
const faults: Record<string, number> = Object.fromEntries(Object.keys(FAULTS).map(fault => [fault, 0]));

function clear(): void {
  for (const { fault, count } of sandbox.faults.armed) faults[fault] = (faults[fault] ?? 0) + COUNT - count;
  sandbox.faults.clear();
}

function arm(fault: Fault, on: keyof typeof MOST): void {
  // Half of the faults are off at any time.
  const probability = random() < 0.5 ? 0 : random() * MOST[on];
  const ms = between(random, 100, 4_000);
  if (probability === 0) return;
  sandbox.faults.next(fault, {
    probability,
    count: COUNT,
    ...(on !== 'callback' && { on }),
    ...(takesMs(fault) && { ms }),
  });
}

function change(): void {
  clear();
  for (const fault of Object.keys(FAULTS) as Fault[]) {
    arm(fault, isCallbackFault(fault) ? 'callback' : 'create');
    if (!isCallbackFault(fault) && !isCreateFault(fault)) arm(fault, 'lookup');
  }
}
change();
const weather = setInterval(change, WEATHER);

async function calm(): Promise<void> {
  isCalm = true;
  clearInterval(weather);
  clear();
  await Promise.all(lives.splice(0));
  for (const { id, paymentStatus } of sandbox.payments) {
    if (paymentStatus === 'PENDING' || paymentStatus === 'AUTHORIZED') await sandbox.complete(id).catch(() => {});
  }
  await sandbox.idle();
}

const booked = (): Booked[] =>
  sandbox.payments.map(({ id, reference, paymentStatus, paymentType, amount }) => ({
    ...{ id, reference, paymentStatus, paymentType, amount },
  }));

const report = (message: Report) => process.send?.(message);
const server = await sandbox.listen();
process.on('disconnect', () => process.exit());
process.on('message', async (command: Command) => {
  if (command.type === 'shops') ports = command.ports;
  if (command.type === 'calm') {
    await calm();
    report({ type: 'calm' });
  }
  if (command.type === 'books') report({ type: 'books', payments: booked(), faults, ...seen });
});
const { apiKey, signKey } = sandbox.clientOptions;
report({ type: 'gateway', url: server.url, apiKey, signKey });
