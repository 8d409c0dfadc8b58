// One contender in a separate process: makes creates, so many at once, and reports their cost.
import { PerformanceObserver } from 'node:perf_hooks';
import { CONTENDERS } from './contenders.ts';
import { timeCalls } from './statistics.ts';

export interface Task {
  creates: number;
  inFlight: number;
}

/** Per create, in microseconds and bytes. */
export interface Measured {
  cpu: number;
  p50: number;
  bytes: number;
}

const [, , name = '', url = ''] = process.argv;
const create = await CONTENDERS[name]?.(url);
if (!create) throw new Error(`No contender is called "${name}".`);

let collections = 0;
new PerformanceObserver(list => {
  collections += list.getEntries().length;
}).observe({ entryTypes: ['gc'] });

/** Bytes. */
const held = () => {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

async function measure({ creates, inFlight }: Task): Promise<Measured> {
  global.gc?.();
  // The observer hears of it a turn later.
  await new Promise(resolve => setTimeout(resolve, 10));
  const before = held();
  collections = 0;
  const usage = process.cpuUsage();
  const { p50 } = await timeCalls(creates, inFlight, async () => create?.());
  const { user, system } = process.cpuUsage(usage);
  // After a collection, the growth shows nothing.
  const bytes = collections > 0 ? Number.NaN : (held() - before) / creates;
  return { cpu: (user + system) / creates, p50: p50 * 1000, bytes };
}

process.on('message', async (task: Task) => process.send?.(await measure(task)));
process.send?.('ready');
process.on('SIGINT', () => process.exit());
// Also after a kill of the parent.
process.on('disconnect', () => process.exit());
