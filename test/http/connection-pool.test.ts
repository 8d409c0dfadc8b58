// Our own connections: when one is used again, how many there are, how one is given up, and what a pause does to them.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { CARD, errorOf } from '../support/fixtures.ts';
import { fakeTimers, until } from '../support/passing-time.ts';
import type { Connection, Script } from '../support/tcp.ts';
import { distrustOurs, trustOurs } from '../support/tls.ts';
import { answers, sleep, withGateway } from './connection-cases.ts';

beforeAll(trustOurs);
afterAll(distrustOurs);
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const PLAIN_AND_TLS = [
  ['http:', undefined],
  ['https:', 'server'],
] as const;

describe.each(PLAIN_AND_TLS)('a connection over %s', (_, certificate) => {
  it('that idles is not used any more after 4 s, also if the process stood still meanwhile', async () => {
    await withGateway({ onRequest: answers }, certificate, {}, async (client, gateway) => {
      await client.createDeposit(CARD);
      // No timer has fired, as after a pause, in which one of the clocks may stop.
      for (const clock of [performance, Date]) {
        const now = clock.now.bind(clock);
        vi.spyOn(clock, 'now').mockImplementation(() => now() + 4_001);
        await client.createDeposit(CARD);
        vi.restoreAllMocks();
      }
      expect([gateway.creates, gateway.connections]).toEqual([3, 3]);
    });
  });

  it('is one of `maxConnections`, and a create that waits for one has not been sent', async () => {
    const held: Connection[] = [];
    const onRequest = (connection: Connection) => void held.push(connection);
    await withGateway({ onRequest }, certificate, { maxConnections: 3, retries: 0 }, async (client, gateway) => {
      const creating = Array.from({ length: 5 }, () => client.createDeposit(CARD));
      await expect.poll(() => held.length).toBe(3);
      const late = await errorOf(client.createDeposit(CARD, { timeout: 100 }));
      expect(late).toMatchObject({ code: 'timeout', outcome: 'not_sent' });
      const left = new AbortController();
      const leaving = errorOf(client.createDeposit(CARD, { signal: left.signal }));
      left.abort();
      expect(await leaving).toMatchObject({ code: 'aborted', outcome: 'not_sent' });
      while (gateway.creates < 5 || held.length > 0) {
        for (const connection of held.splice(0)) answers(connection);
        await sleep(5);
      }
      await Promise.all(creating);
      expect([gateway.creates, gateway.connections]).toEqual([5, 3]);
    });
  });

  it.each(['its time-out', 'its signal'])('is reset when a create is given up by %s', async by => {
    await withGateway({}, certificate, { retries: 0 }, async (client, gateway) => {
      const controller = new AbortController();
      fakeTimers();
      const failing = errorOf(client.createDeposit(CARD, { signal: controller.signal, timeout: 20_000 }));
      await until(() => gateway.creates === 1);
      if (by === 'its signal') controller.abort();
      else await vi.advanceTimersByTimeAsync(20_000);
      expect(await failing).toMatchObject({ name: 'ConnectionError', outcome: 'unknown' });
      await expect.poll(() => gateway.ends).toEqual(['rst']);
    });
  });

  it('that is given up delivers nothing any more of what it had taken', async () => {
    let reads = 0;
    const paused: Socket[] = [];
    const pause = ({ socket }: Connection) => {
      socket.pause();
      paused.push(socket);
    };
    const onBegin = () => {
      reads += 1;
    };
    const script: Script = certificate ? { onSecure: pause, onBegin } : { onConnect: pause, onBegin };
    await withGateway(script, certificate, { retries: 0 }, async (client, gateway) => {
      const isSent = new Promise<void>(resolve => {
        const told = () => resolve();
        subscribe('http.client.request.start', told);
        onTestFinished(() => void unsubscribe('http.client.request.start', told));
      });
      const controller = new AbortController();
      const failing = errorOf(client.createDeposit(CARD, { signal: controller.signal }));
      await isSent;
      await until(() => paused.length === 1);
      controller.abort();
      expect(await failing).toMatchObject({ outcome: 'unknown' });
      await sleep(50);
      for (const socket of paused) socket.resume();
      await expect.poll(() => gateway.ends).toEqual(['rst']);
      expect([reads, gateway.creates]).toEqual([0, 0]);
    });
  });
});
