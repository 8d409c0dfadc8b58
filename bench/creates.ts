// The cost of a create with each contender, in alternating rounds against one server.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Measured, Task } from './contender.ts';
import { CONTENDERS } from './contenders.ts';
import { median } from './statistics.ts';

const start = async (file: string, args: string[], execArgv: string[] = []) => {
  const child = fork(new URL(file, import.meta.url), args, {
    execArgv: ['--expose-gc', '--no-warnings', ...execArgv],
    // Mollie trusts only its own list of authorities.
    env: { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '0' },
  });
  const [message] = await once(child, 'message');
  return { child, message };
};

const run = async (child: ChildProcess, task: Task): Promise<Measured> => {
  child.send(task);
  const [measured] = await once(child, 'message');
  return measured;
};

const TASKS = {
  1: { creates: 1500, inFlight: 1 },
  64: { creates: 6000, inFlight: 64 },
  256: { creates: 6000, inFlight: 256 },
  4000: { creates: 12_000, inFlight: 4000 },
} as const;
type InFlight = keyof typeof TASKS;

/** A connection for each create would take hours. */
function taskOf(name: string, inFlight: InFlight): Task {
  const { creates } = TASKS[inFlight];
  return { inFlight, creates: name.endsWith('over TLS') ? creates / 20 : creates };
}

const IN_FLIGHT: InFlight[] = [1, 64, 256];

/** A young generation without collections, so that the growth is the allocation. */
const NO_COLLECTION = ['--min-semi-space-size=512', '--max-semi-space-size=512'];

export interface Row {
  name: string;
  at: Partial<Record<InFlight, Measured>>;
  bytes: number | undefined;
}

export async function creates(rounds: number, names = Object.keys(CONTENDERS)): Promise<Row[]> {
  const { child: server, message: urls } = await start('server.ts', []);
  const contenders = new Map<string, ChildProcess>();
  for (const name of names) contenders.set(name, (await start('contender.ts', [name, ...urls])).child);

  const seen = new Map<string, Measured[]>();
  const key = (name: string, inFlight: number) => `${name} ${inFlight}`;
  for (let round = -1; round < rounds; round++) {
    for (const inFlight of IN_FLIGHT) {
      for (const [name, child] of contenders) {
        const measured = await run(child, taskOf(name, inFlight));
        // The first round warms up.
        if (round >= 0) seen.set(key(name, inFlight), [...(seen.get(key(name, inFlight)) ?? []), measured]);
      }
    }
  }
  const ours = contenders.get('payment-gateway-sdk');
  if (ours) {
    const many: Measured[] = [];
    for (let round = 0; round < rounds; round++) many.push(await run(ours, TASKS[4000]));
    seen.set(key('payment-gateway-sdk', 4000), many);
  }
  for (const child of contenders.values()) child.kill();

  const rows: Row[] = [];
  for (const name of names) {
    const { child } = await start('contender.ts', [name, ...urls], NO_COLLECTION);
    await run(child, taskOf(name, 64));
    const few = { creates: 500, inFlight: 64 };
    const all: number[] = [];
    for (let round = 0; round < rounds; round++) all.push((await run(child, few)).bytes);
    // Unknown after a collection.
    const bytes = median(all.filter(Number.isFinite)) || undefined;
    child.kill();
    const at: Row['at'] = {};
    for (const inFlight of [...IN_FLIGHT, 4000] as InFlight[]) {
      const all = seen.get(key(name, inFlight));
      if (!all) continue;
      const of = (field: keyof Measured) => median(all.map(measured => measured[field]));
      at[inFlight] = { cpu: of('cpu'), p50: of('p50'), p99: of('p99'), perSecond: of('perSecond'), bytes: 0 };
    }
    rows.push({ name, at, bytes });
  }
  server.kill();
  return rows;
}

if (import.meta.main) {
  const [, , rounds = '3', ...names] = process.argv;
  for (const row of await creates(Number(rounds), names.length > 0 ? names : undefined)) console.log(row);
}
