// Prints where the CPU time of the missed targets goes: the own time of each file, by V8's profiler.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector/promises';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import { postgresStore } from 'payment-gateway-sdk/postgres';
import { CONTENDERS } from './contenders.ts';
import { openDatabase } from './database.ts';
import { timeCalls } from './statistics.ts';
import { openCallbacks, TABLES } from './store.ts';

const CREATES = 20_000;
const CALLBACKS = 500;
const LINES = 15;

/** Profiles this process, and returns the files with the most own time, with their share. */
async function profileOf(work: () => Promise<unknown>): Promise<[share: number, file: string][]> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
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
  const total = [...times.values()].reduce((sum, time) => sum + time, 0);
  return [...times].map(([file, time]): [number, string] => [time / total, file]).sort(([a], [b]) => b - a);
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
    /(?:.*node_modules\/((?:@[^/]+\/)?[^/]+)|.*?((?:src|bench)\/.*))/.exec(source)?.slice(1).find(Boolean) ?? source
  );
}

function tableOf(title: string, shares: readonly [number, string][]): string {
  const rows = shares.slice(0, LINES).map(([share, file]) => `| ${(100 * share).toFixed(1)} % | ${file} |`);
  return [`| ${title} | own time in |`, '| --- | --- |', ...rows].join('\n');
}

export async function profiles(): Promise<string> {
  const server = fork(new URL('server.ts', import.meta.url), { execArgv: ['--no-warnings'] });
  const [url] = await once(server, 'message');
  const create = await CONTENDERS['payment-gateway-sdk']?.(url);
  const creates = (count: number) => timeCalls(count, 4_000, async () => create?.());
  await creates(CREATES);
  const ofCreates = await profileOf(() => creates(CREATES));
  server.kill();

  const database = await openDatabase();
  const pool = database.open();
  const store = postgresStore(pool, { scope: 'bench' });
  await store.migrate();
  await pool.query(TABLES);
  const { open, callBackOver } = openCallbacks(pool, store);
  const callBack = callBackOver(store);
  const callbacks = async () => {
    const ids = await open(CALLBACKS);
    return profileOf(() => timeCalls(CALLBACKS, 16, index => callBack(ids[index])));
  };
  await callbacks();
  const ofCallbacks = await callbacks();
  await database.close();
  return [
    tableOf('create, 4,000 in flight', ofCreates),
    tableOf('callback with `onPaid`, 16 in flight, without the database', ofCallbacks),
  ].join('\n\n');
}
