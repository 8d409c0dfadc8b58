// Prints where the time of the missed targets goes: the own time of each file, by V8's profiler, and of each step of
// the database's statements, by its log.
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector/promises';
import { createRequire, SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import { GatewayClient, type Store } from 'payment-gateway-sdk';
import { postgresStore } from 'payment-gateway-sdk/postgres';
import type pg from 'pg';
import { CONTENDERS } from './contenders.ts';
import { openDatabase } from './database.ts';
import { READERS } from './parsing.ts';
import { quickGateway } from './quick-gateway.ts';
import { timeCalls } from './statistics.ts';
import { ORDER, openCallbacks, TABLES } from './store.ts';

const CREATES = 20_000;
const PARSES = 200_000;
const CALLS = 500;
const LINES = 15;
/** Microseconds between two samples: an import is short. */
const INTERVAL = 100;

/** Profiles this process, and returns the time of each file. */
async function profileOf(work: () => unknown): Promise<Map<string, number>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: INTERVAL });
  await session.post('Profiler.start');
  await work();
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  const times = new Map<string, number>();
  const files = new Map(profile.nodes.map(({ id, callFrame }) => [id, fileOf(callFrame)]));
  for (const [index, id] of (profile.samples ?? []).entries()) {
    const file = files.get(id) ?? '';
    times.set(file, (times.get(file) ?? 0) + (profile.timeDeltas?.[index] ?? 0));
  }
  for (const own of ['(idle)', 'node:inspector']) times.delete(own);
  return times;
}

const maps = new Map<string, SourceMap>();

/** Returns the source file of a frame, its package, its module of Node.js, or the name of a native function. */
function fileOf({ url, functionName, lineNumber, columnNumber }: Profiler.Profile['nodes'][0]['callFrame']): string {
  if (url === '') return functionName || '(native)';
  if (!url.startsWith('file:')) return url;
  const path = fileURLToPath(url);
  if (!maps.has(path) && existsSync(`${path}.map`)) {
    maps.set(path, new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8'))));
  }
  const entry = maps.get(path)?.findEntry(lineNumber, columnNumber);
  const source = entry && 'originalSource' in entry ? entry.originalSource : path;
  return (
    /(?:.*node_modules\/((?:@[^/]+\/)?[^/]+)|.*?((?:src|bench|dist)\/.*))/.exec(source)?.slice(1).find(Boolean) ??
    source
  );
}

function tableOf(title: string, times: ReadonlyMap<string, number>): string {
  const total = [...times.values()].reduce((sum, time) => sum + time, 0);
  const longest = [...times].sort(([, one], [, other]) => other - one).slice(0, LINES);
  const rows = longest.map(([place, time]) => `| ${((100 * time) / total).toFixed(1)} % | ${place} |`);
  return [`| ${title} | own time in |`, '| --- | --- |', ...rows].join('\n');
}

async function createsInFlight(): Promise<string[]> {
  const server = fork(new URL('server.ts', import.meta.url), { execArgv: ['--no-warnings'] });
  const [url] = await once(server, 'message');
  const create = await CONTENDERS['payment-gateway-sdk']?.(url);
  const creates = (count: number) => timeCalls(count, 4_000, async () => create?.());
  await creates(CREATES);
  const times = await profileOf(() => creates(CREATES));
  server.kill();
  return [tableOf('create, 4,000 in flight', times)];
}

/** Calls over a store, 16 in flight: this process, and then the database. */
async function overStore(
  title: string,
  prepare: (pool: pg.Pool, store: Store<Pick<pg.PoolClient, 'query'>>) => Promise<(index: number) => Promise<unknown>>,
): Promise<string[]> {
  const database = await openDatabase();
  const run = async (pool: pg.Pool) => {
    const store = postgresStore(pool, { scope: 'bench' });
    await store.migrate();
    const call = await prepare(pool, store);
    database.steps.clear();
    return profileOf(() => timeCalls(CALLS, 16, call));
  };
  const pool = database.open();
  await pool.query(TABLES);
  await run(pool);
  const times = await run(pool);
  await run(database.open({ isTimed: true }));
  await database.close();
  return [tableOf(`${title}, this process`, times), tableOf(`${title}, the database`, database.steps)];
}

export async function profiles(): Promise<string> {
  const importing = await profileOf(() => createRequire(import.meta.url)('payment-gateway-sdk'));
  for (let call = 0; call < PARSES; call++) READERS['parseWebhook, of text']();
  const parsing = await profileOf(() => {
    for (let call = 0; call < PARSES; call++) READERS['parseWebhook, of text']();
  });
  return [
    tableOf('import of ., CommonJS', importing),
    tableOf('parseWebhook, of text', parsing),
    ...(await createsInFlight()),
    ...(await overStore('create with a store', async (_pool, store) => {
      const gateway = new GatewayClient({ ...quickGateway().options, store });
      return () => gateway.createDeposit({ ...ORDER, reference: randomUUID() });
    })),
    ...(await overStore('callback with `onPaid`', async (pool, store) => {
      const { open, callBackOver } = openCallbacks(pool, store);
      const ids = await open(CALLS);
      const callBack = callBackOver(store);
      return index => callBack(ids[index]);
    })),
  ].join('\n\n');
}
