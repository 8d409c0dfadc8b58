// One contender in a process of its own: makes so many creates at once as it is told, and says what they took.
import { PerformanceObserver } from 'node:perf_hooks';
import { CONTENDERS } from './contenders.ts';

export interface Task {
  creates: number;
  inFlight: number;
}

/** Per create, in microseconds and bytes; `perSecond` of all. */
export interface Measured {
  cpu: number;
  p50: number;
  p99: number;
  perSecond: number;
  bytes: number;
}

const [, , name = '', url = '', tlsUrl = ''] = process.argv;
const create = await CONTENDERS[name]?.(url, tlsUrl);
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
  const times: number[] = [];
  let left = creates;
  const lane = async () => {
    while (left-- > 0) {
      const begun = performance.now();
      await create?.();
      times.push((performance.now() - begun) * 1000);
    }
  };
  global.gc?.();
  // The observer hears of it a turn later.
  await new Promise(resolve => setTimeout(resolve, 10));
  const before = held();
  collections = 0;
  const cpu = process.cpuUsage();
  const begun = performance.now();
  await Promise.all(Array.from({ length: inFlight }, lane));
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  // With a collection in between nothing is known.
  const bytes = collections > 0 ? Number.NaN : (held() - before) / creates;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  return { cpu: (user + system) / creates, p50: at(0.5), p99: at(0.99), perSecond: creates / seconds, bytes };
}

process.on('message', async (task: Task) => process.send?.(await measure(task)));
process.send?.('ready');
process.on('SIGINT', () => process.exit());
// Also if the one who asked was killed.
process.on('disconnect', () => process.exit());
