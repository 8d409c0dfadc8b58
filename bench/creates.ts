// The cost of a create with each contender, in alternating rounds against one server.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Measured, Task } from './contender.ts';
import { CONTENDERS } from './contenders.ts';
import { alternate, type Line } from './statistics.ts';

const OURS = 'payment-gateway-sdk';
const FETCH = 'by hand, fetch';
const STRIPE = 'stripe, node:http';

const ONE: Task = { creates: 800, inFlight: 1 };
const MANY: Task = { creates: 3_000, inFlight: 64 };
const MOST: Task = { creates: 8_000, inFlight: 4_000 };
const FEW: Task = { creates: 500, inFlight: 64 };

/** A young generation that is collected only between rounds, so that the growth is the allocation. */
const NO_COLLECTION = ['--expose-gc', '--min-semi-space-size=512', '--max-semi-space-size=512'];

const start = async (file: string, args: readonly string[], execArgv: readonly string[] = []) => {
  const child = fork(new URL(file, import.meta.url), args, { execArgv: ['--no-warnings', ...execArgv] });
  const [message] = await once(child, 'message');
  return { child, message };
};

const run = async (child: ChildProcess, task: Task): Promise<Measured> => {
  child.send(task);
  const [measured] = await once(child, 'message');
  return measured;
};

/** Starts each contender in its own process. */
async function startAll(url: string, execArgv: readonly string[] = []) {
  const children = new Map<string, ChildProcess>();
  for (const name of Object.keys(CONTENDERS))
    children.set(name, (await start('contender.ts', [name, url], execArgv)).child);
  const scenesOf = (task: Task) =>
    Object.fromEntries([...children].map(([name, child]) => [name, () => run(child, task)]));
  const close = () => {
    for (const child of children.values()) child.kill();
  };
  return { children, scenesOf, close };
}

export async function creates(rounds: number): Promise<Line[]> {
  const { child: server, message: url } = await start('server.ts', []);
  const { children, scenesOf, close } = await startAll(url);
  const many = await alternate(rounds, scenesOf(MANY));
  const one = await alternate(rounds, scenesOf(ONE), 1);
  const [own, fetch] = [OURS, FETCH].map(name => children.get(name) as ChildProcess) as [ChildProcess, ChildProcess];
  const atMost = { few: () => run(own, MANY), all: () => run(own, MOST), fetch: () => run(fetch, MOST) };
  const full = await alternate(rounds, atMost, 1);
  close();
  const quiet = await startAll(url, NO_COLLECTION);
  await alternate(0, quiet.scenesOf(MANY));
  const allocated = await alternate(rounds, quiet.scenesOf(FEW), 1);
  quiet.close();
  server.kill();

  const cpu = (name: string) => many(name).map(measured => measured.cpu);
  const atOnce = (name: string) => full(name).map(measured => measured.cpu);
  const p50 = (name: string) => one(name).map(measured => measured.p50);
  const bytes = (name: string) => allocated(name).map(measured => measured.bytes / 1024);
  const others = Object.keys(CONTENDERS).filter(name => ![OURS, FETCH, STRIPE].includes(name));
  const cpuLine = { what: 'CPU of a create, 64 in flight', unit: 'µs', ours: cpu(OURS) };
  const fullLine = { what: 'CPU of a create, 4,000 in flight', unit: 'µs', ours: atOnce('all') };
  return [
    { ...cpuLine, of: FETCH, theirs: cpu(FETCH), most: 0.7 },
    { ...cpuLine, of: STRIPE, theirs: cpu(STRIPE), most: 1 },
    ...others.map(name => ({ ...cpuLine, of: name, theirs: cpu(name) })),
    { what: 'p50 of a create, one in flight', unit: 'µs', ours: p50(OURS), of: FETCH, theirs: p50(FETCH), most: 1 },
    { what: 'allocated by a create', unit: 'kB', ours: bytes(OURS), of: FETCH, theirs: bytes(FETCH), most: 1 },
    { ...fullLine, of: '64 in flight', theirs: atOnce('few'), most: 1.2 },
    { ...fullLine, of: FETCH, theirs: atOnce('fetch') },
  ];
}
