// The tarball on other runtimes: a merchant's app, and creates whose connection breaks.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ID, record } from '../support/fixtures.ts';
import { type Connection, http, tcpGateway } from '../support/tcp.ts';
import { folderInApp } from './tarball.ts';
import { RUNTIMES, tool } from './tools.ts';

const created = record('created card deposit');
const found = record('completed lookup');

const folder = folderInApp();
const started = promisify(execFile);

/** A create that the gateway cuts off. */
interface Cut {
  what: string;
  /** What the caller may be told. */
  ends: readonly string[];
  /** On a connection that has served a lookup before. */
  isWarm?: boolean;
  isSecure?: boolean;
  /** Bytes of the description: more than fits into one packet, so that it can be cut off in the middle. */
  length?: number;
  onConnect?: (connection: Connection) => void;
  onIdle?: (connection: Connection) => void;
  onBegin?: (connection: Connection) => void;
  onRequest?: (connection: Connection) => void;
}

const BREAKS = { closed: ({ fin }: Connection) => fin(), reset: ({ rst }: Connection) => rst() };
const CUTS: Cut[] = (['closed', 'reset'] as const).flatMap((how): Cut[] => {
  const cut = BREAKS[how];
  const inDoubt = ['unknown'];
  return [
    { what: `new, ${how} before TLS`, ends: ['not_sent'], isSecure: true, onConnect: cut },
    // If the reset is seen before the connection is, nothing was sent, and it is repeated.
    { what: `new, ${how} before it`, ends: ['unknown', 'created'], onConnect: cut },
    { what: `new, ${how} in the middle of it`, ends: inDoubt, length: 5_000_000, onBegin: cut },
    { what: `new, ${how} after it`, ends: inDoubt, onRequest: cut },
    { what: `reused, ${how} before it`, ends: ['created'], isWarm: true, onIdle: cut },
    { what: `reused, ${how} in the middle of it`, ends: inDoubt, isWarm: true, length: 5_000_000, onBegin: cut },
    { what: `reused, ${how} after it`, ends: inDoubt, isWarm: true, onRequest: cut },
  ];
});

/** A gateway that cuts the first create off, and answers a second one. */
async function cuttingGateway({ isWarm, isSecure, ...cut }: Cut) {
  const seen = { creates: 0 };
  const lookups = isWarm ? 1 : 0;
  let isCut = false;
  const once = (doCut: ((connection: Connection) => void) | undefined, connection: Connection): boolean => {
    if (isCut || !doCut) return false;
    isCut = true;
    doCut(connection);
    return true;
  };
  const { url, close } = await tcpGateway({
    onConnect: connection => void once(cut.onConnect, connection),
    // Those that have begun to arrive count too; before TLS stands, none can.
    onBegin: (connection, count) => {
      if (count < lookups || isSecure) return;
      seen.creates += 1;
      once(cut.onBegin, connection);
    },
    onRequest: (connection, count) => {
      if (count <= lookups) {
        connection.socket.write(http(found));
        setTimeout(once, 20, cut.onIdle, connection);
      } else if (!once(cut.onRequest, connection)) connection.socket.write(http(created));
    },
  });
  return { baseUrl: isSecure ? url.replace('http:', 'https:') : url, close, seen };
}

/** Runs all creates in one process. @returns how each ended, and how many of them arrived */
async function createsOn([command = '', ...args]: string[]) {
  const gateways = await Promise.all(CUTS.map(cuttingGateway));
  const cases = gateways.map(({ baseUrl }, index) => JSON.stringify({ ...CUTS[index], baseUrl }));
  const { stdout } = await started(command, [...args, 'creates.mjs', ID, ...cases], { cwd: folder, timeout: 60_000 });
  await Promise.all(gateways.map(({ close }) => close()));
  const lines = stdout.trim().split('\n');
  expect(lines).toHaveLength(CUTS.length);
  return lines.map((end, index) => ({ ...CUTS[index], end, creates: gateways[index]?.seen.creates }));
}

describe.each(RUNTIMES)('on %s', (_, command) => {
  it.each(['main.mjs', 'main.cjs', 'both.mjs'])('%s runs', async file => {
    const [program = '', ...args] = command;
    expect((await started(program, [...args, file], { cwd: folder })).stdout).toBe('consumer: done\n');
  });

  it('a create whose connection breaks arrives at most once, and counts as not sent only if nothing was', async () => {
    for (const { what, ends = [], end, creates } of await createsOn(command)) {
      expect([what, ends]).toEqual([what, expect.arrayContaining([end])]);
      const arrived = end === 'created' ? 1 : end === 'not_sent' ? 0 : expect.toBeOneOf([0, 1]);
      expect([what, creates]).toEqual([what, arrived]);
    }
  });
});

it('a create is refused on Bun 1.3, which would send it again', async () => {
  const refusal = 'ConfigurationError: bun/1.3.14 may send a create twice when a connection breaks';
  expect((await createsOn([tool('bun-1.3/bin/bun')])).map(({ end, creates }) => [end, creates])).toEqual(
    CUTS.map(() => [expect.stringContaining(refusal), 0]),
  );
});

describe('on Cloudflare Workers', () => {
  it.each(['2025-09-01', '2026-11-17'])('of %s a client works with the fetch that it asks for', async date => {
    await build({
      entryPoints: [join(folder, 'worker.mjs')],
      outfile: join(folder, 'bundle.mjs'),

      bundle: true,
      format: 'esm',
      conditions: ['workerd', 'worker', 'browser'],
      external: ['node:*'],
    });
    writeFileSync(
      join(folder, 'workerd.capnp'),
      `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "shop", worker = (
      modules = [(name = "bundle", esModule = embed "bundle.mjs")],
      compatibilityDate = "${date}",
      compatibilityFlags = ["nodejs_compat"],
    )),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "shop")],
);`,
    );
    const gateway = await tcpGateway({
      onRequest: ({ socket }) => void socket.write(http(created)),
    });
    const args = ['serve', 'workerd.capnp', '--control-fd=1'];
    const workerd = spawn(tool('.bin/workerd'), args, { cwd: folder });
    onTestFinished(() => void workerd.kill());
    const [told] = await once(workerd.stdout, 'data');
    const { port } = JSON.parse(told);
    const answer = await fetch(`http://127.0.0.1:${port}/?gateway=${encodeURIComponent(gateway.url)}`);
    expect(await answer.json()).toEqual([
      'ConfigurationError',
      expect.stringContaining('pass fetch: (url, init) => fetch(url, init)'),
      ID,
      'PENDING',
    ]);
    await gateway.close();
  });
});
