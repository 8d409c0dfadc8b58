// A process of its own with one create: what it sends after it stood still, and what keeps it alive.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ID } from '../support/fixtures.ts';
import { FROM_SOURCE } from '../support/processes.ts';
import { type Connection, http, type Script } from '../support/tcp.ts';
import { answers, created, sleep, withGateway } from './connection-cases.ts';

const LONE = fileURLToPath(new URL('lone-create.ts', import.meta.url));

/** A process of its own that makes one create. */
function loneCreate(baseUrl: string, timeout: number, description = 0) {
  const env = { ...process.env, BASE_URL: baseUrl, TIMEOUT: String(timeout), DESCRIPTION: String(description) };
  const child = spawn(process.execPath, [...FROM_SOURCE, LONE], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const printed = text(child.stdout);
  return { child, ended: () => ended.then(async () => JSON.parse(await printed)) };
}

describe.skipIf(process.platform === 'win32')('a process that stands still', () => {
  it.concurrent.each([
    ['while it connects over TLS', 'server', 0, { outcome: 'not_sent', code: 'timeout' }, 0],
    ['after the request', undefined, 0, { outcome: 'unknown', code: 'timeout' }, 1],
    ['in the middle of the request', undefined, 20_000_000, { outcome: 'unknown', code: 'timeout' }, 0],
  ] as const)('%s sends nothing once it goes on', async (_, certificate, size, expected, creates) => {
    const stop = Promise.withResolvers<Connection>();
    const script: Script = {
      // TLS begins once the process stands.
      onConnect: connection => {
        if (certificate) connection.socket.pause();
        if (certificate) stop.resolve(connection);
      },
      onBegin: connection => {
        if (size > 0) connection.socket.pause();
        stop.resolve(connection);
      },
    };
    await withGateway(script, certificate, {}, async (_client, gateway) => {
      const { child, ended } = loneCreate(gateway.url, 5_000, size);
      const { socket } = await stop.promise;
      child.kill('SIGSTOP');
      socket.resume();
      await sleep(5_200);
      child.kill('SIGCONT');
      expect(await ended()).toEqual(expected);
      await sleep(50);
      expect(gateway.creates).toBe(creates);
    });
  });
});

describe('a create that has ended', () => {
  /** Milliseconds: none of them may be waited for, but where the answer stops. */
  const LONG = 600_000;
  const REFUSAL = http('', 'HTTP/1.1 413 Content Too Large\r\nconnection: close');
  it.concurrent.each<[string, Script, number, object, number?]>([
    ['with its payment', { onRequest: answers }, LONG, { id: ID }],
    [
      'because it was refused in the middle, by a gateway that reads nothing more',
      { onBegin: ({ socket }) => void socket.pause().write(REFUSAL) },
      LONG,
      { outcome: 'rejected', code: 'api_error' },
      20_000_000,
    ],
    [
      'because the connection broke',
      { onRequest: ({ rst }) => rst() },
      LONG,
      { outcome: 'unknown', code: 'ECONNRESET' },
    ],
    [
      'because the answer stopped',
      { onRequest: ({ socket }) => void socket.write(http(created).slice(0, -9)) },
      5_000,
      { outcome: 'unknown', code: 'timeout' },
    ],
  ])('%s leaves no socket and no timer that keeps the process alive', async (_, script, timeout, expected, size) => {
    await withGateway(script, undefined, {}, async (_client, gateway) => {
      expect(await loneCreate(gateway.url, timeout, size).ended()).toEqual(expected);
    });
  });
});
