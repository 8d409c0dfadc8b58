// The gateway of the soak: the sandbox over HTTP in a process of its own. Every few seconds other faults strike, and its
// payments move by themselves.
import {
  FAULTS,
  type Fault,
  isCallbackFault,
  isCreateFault,
  type SandboxOperation,
  takesMs,
} from '../../src/sandbox/faults/kinds.ts';
import { Sandbox } from '../../src/sandbox/index.ts';
import { fold } from './judge.ts';
import type { Booked, FromGateway, ToGateway } from './messages.ts';
import { between, seeded } from './seeded.ts';

const { SEED = '' } = process.env;
/** Milliseconds until other faults strike. */
const WEATHER = 5_000;
/** How likely each is injected, at most. */
const MOST = { create: 0.06, lookup: 0.06, callback: 0.2 };
const COUNT = 1_000_000_000;

const random = seeded(SEED, 'faults');
const moves = seeded(SEED, 'moves');
let ports: number[] = [];
let callbacks = 0;
let calls = 0;

const sandbox = new Sandbox({
  seed: SEED,
  // Its books are what the judge compares with.
  maxPayments: 1_000_000,
  maxDeliveries: 1_000,
  // As a load balancer does. Who has just died answers nothing, and the callback is lost.
  fetch: async (url, init) => {
    callbacks += 1;
    const { pathname, search } = new URL(url);
    const port = ports[between(random, 0, ports.length - 1)];
    return fetch(`http://127.0.0.1:${port}${pathname}${search}`, init);
  },
  onEvent: event => {
    if (event.type !== 'request') return;
    calls += 1;
    if (event.method === 'POST' && event.paymentId) void live(event.paymentId);
  },
});

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

/** A payment's life: perhaps it is authorised, then it ends. One that ended before the answer to its create stays as it is. */
async function live(id: string): Promise<void> {
  const [first, second, isAuthorized, end] = [between(moves, 20, 2_500), between(moves, 20, 1_500), moves(), moves()];
  await pause(first);
  try {
    if (isAuthorized < 0.25) {
      await sandbox.authorize(id);
      await pause(second);
    }
    if (end < 0.75) await sandbox.complete(id);
    else if (end < 0.9) await sandbox.fail(id, { code: 4004 });
    else await sandbox.cancel(id);
  } catch (error) {
    if ((error as { code?: string }).code !== 'final_state') throw error;
  }
}

/** How often each fault was injected. */
const injected: Record<string, number> = Object.fromEntries(Object.keys(FAULTS).map(fault => [fault, 0]));

function clear(): void {
  for (const { fault, count } of sandbox.faults.armed) injected[fault] = (injected[fault] ?? 0) + COUNT - count;
  sandbox.faults.clear();
}

function arm(fault: Fault, kind: keyof typeof MOST, on?: SandboxOperation): void {
  // Most are fair weather at any time.
  const probability = random() < 0.5 ? 0 : random() * MOST[kind];
  const ms = between(random, 100, 4_000);
  if (probability === 0) return;
  sandbox.faults.next(fault, { probability, count: COUNT, ...(on && { on }), ...(takesMs(fault) && { ms }) });
}

function change(): void {
  clear();
  for (const fault of Object.keys(FAULTS) as Fault[]) {
    if (isCallbackFault(fault)) arm(fault, 'callback');
    else {
      arm(fault, 'create', 'create');
      if (!isCreateFault(fault)) arm(fault, 'lookup', 'lookup');
    }
  }
}
change();
const weather = setInterval(change, WEATHER);

async function calm(): Promise<void> {
  clearInterval(weather);
  clear();
  for (const { id, paymentStatus } of sandbox.payments) {
    if (paymentStatus === 'PENDING' || paymentStatus === 'AUTHORIZED') await sandbox.complete(id).catch(() => {});
  }
  await sandbox.idle();
}

const booked = (): Booked[] =>
  sandbox.payments.map(({ id, reference, paymentStatus, paymentType, amount }) => ({
    id,
    reference,
    paymentStatus,
    paymentType,
    amount,
  }));

const tell = (message: FromGateway) => process.send?.(message);
const server = await sandbox.listen();
process.on('disconnect', () => process.exit());
process.on('message', async (message: ToGateway) => {
  if (message.type === 'shops') ports = message.ports;
  if (message.type === 'ask') {
    const asked = new Set(message.references.map(fold));
    tell({ type: 'answer', payments: booked().filter(({ reference }) => asked.has(fold(reference))) });
  }
  if (message.type === 'calm') {
    await calm();
    tell({ type: 'calm' });
  }
  if (message.type === 'books') tell({ type: 'books', payments: booked(), faults: injected, calls, callbacks });
});
const { apiKey, signKey } = sandbox.clientOptions;
tell({ type: 'ready', url: server.url, apiKey, signKey });
