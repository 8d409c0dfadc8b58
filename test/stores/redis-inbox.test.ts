// redisInbox over every client that it takes, also where its process stands still.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { ConfigurationError } from 'payment-gateway-sdk';
import { type RedisClient, redisInbox } from 'payment-gateway-sdk/redis';
import { inboxSuite } from 'payment-gateway-sdk/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { errorOf } from '../support/fixtures.ts';
import { fakeTimers, whileTimePasses } from '../support/passing-time.ts';
import { FROM_SOURCE } from '../support/processes.ts';
import { lacks } from '../support/skips.ts';
import { hasRedis, redisClients, uniqueName } from '../support/stores.ts';

const completed = () => ({ paymentId: randomUUID() as string, status: 'COMPLETED', final: true });

describe.skipIf(lacks(hasRedis, 'redisInbox: no Redis at 127.0.0.1:6379')).each(Object.entries(redisClients))(
  'redisInbox with %s',
  (_, open) => {
    const prefix = uniqueName('inbox');
    let client: RedisClient;
    let other: RedisClient;
    const closes: (() => unknown)[] = [];

    beforeAll(async () => {
      const [a, b] = await Promise.all([open(), open()]);
      [client, other] = [a.client, b.client];
      closes.push(a.close, b.close);
    });
    afterAll(async () => {
      const keys = (await send(['KEYS', `${prefix}*`])) as string[];
      if (keys.length > 0) await send(['DEL', ...keys]);
      for (const close of closes) await close();
    });

    const send = (command: string[]): Promise<unknown> =>
      'call' in client
        ? client.call(command[0] ?? '', ...command.slice(1))
        : (client as { sendCommand(command: string[]): Promise<unknown> }).sendCommand(command);

    inboxSuite({ test: it, make: () => [redisInbox(client, { prefix }), redisInbox(other, { prefix })] });

    /** Runs an event whose work stays until it is told to leave. */
    async function enter(event: ReturnType<typeof completed>, leaseMs: number) {
      const entered = Promise.withResolvers<AbortSignal>();
      const leaving = Promise.withResolvers<void>();
      const running = redisInbox(client, { prefix, leaseMs }).run(event, async ({ signal }) => {
        entered.resolve(signal);
        await leaving.promise;
      });
      return { running, signal: await entered.promise, leave: leaving.resolve };
    }

    const leaseOf = ({ paymentId }: { paymentId: string }) => `${prefix}:{${paymentId}}:lease`;

    describe.concurrent('its lease', () => {
      it('is renewed while the work takes longer, and the signal says nothing', async () => {
        const event = completed();
        const { running, signal, leave } = await enter(event, 1000);
        await delay(900);
        expect(await redisInbox(other, { prefix, leaseMs: 1000 }).run(event, async () => {})).toBe('busy');
        expect(signal.aborted).toBe(false);
        leave();
        expect(await running).toBe('ran');
      });

      it('is renewed also by a client that answers numbers as texts', async () => {
        const textual = {
          async call(command: string, ...args: string[]) {
            const answer = await send([command, ...args]);
            return typeof answer === 'number' ? String(answer) : answer;
          },
        };
        const inbox = redisInbox(textual as never, { prefix, leaseMs: 1000 });
        const answer = await inbox.run(completed(), async ({ signal }) => {
          // The first renewal comes after a third of it.
          await delay(600);
          expect(signal.aborted).toBe(false);
        });
        expect(answer).toBe('ran');
      });

      it('is waited for, for a moment', async () => {
        const event = completed();
        const { running, leave } = await enter(event, 30_000);
        const waiting = redisInbox(other, { prefix }).run(event, async () => {});
        await delay(150);
        leave();
        expect([await waiting, await running]).toEqual(['already', 'ran']);
      });

      it('of a worker that died runs out, and another takes over', async () => {
        const event = completed();
        await send(['SET', leaseOf(event), 'of a dead worker', 'PX', '2000']);
        const inbox = redisInbox(client, { prefix });
        expect(await inbox.run(event, async () => {})).toBe('busy');
        await delay(500);
        expect(await inbox.run(event, async () => {})).toBe('ran');
      });

      it.each([
        ['taken by another worker', ['SET', 'of another worker']],
        ['deleted', ['DEL']],
      ])('that is %s aborts the signal, and the work is marked all the same', async (_, [name = '', ...args]) => {
        const event = completed();
        const { running, signal, leave } = await enter(event, 1000);
        const aborted = once(signal, 'abort');
        await send([name, leaseOf(event), ...args]);
        await aborted;
        expect(String(signal.reason)).toBe(
          'Error: The lease on this payment is lost: another worker may run the same effect.',
        );
        leave();
        expect(await running).toBe('ran');
        expect(await send(['GET', leaseOf(event)])).toBe(args[0] ?? null);
        expect(await redisInbox(other, { prefix }).run(event, async () => {})).toBe('already');
      });

      it('is left alone by work that stopped at the signal, and nothing is marked', async () => {
        const event = completed();
        const inbox = redisInbox(client, { prefix, leaseMs: 1000 });
        const stopping = inbox.run(event, async ({ signal }) => {
          await send(['SET', leaseOf(event), 'of another worker']);
          await once(signal, 'abort');
          signal.throwIfAborted();
        });
        await expect(stopping).rejects.toThrow('The lease on this payment is lost');
        expect(await send(['GET', leaseOf(event)])).toBe('of another worker');
        await send(['DEL', leaseOf(event)]);
        expect(await inbox.run(event, async () => {})).toBe('ran');
      });
    });

    it('leaves the lease of another alone, and still marks its work', async () => {
      const event = completed();
      const inbox = redisInbox(client, { prefix });
      await inbox.run(event, async () => {
        await send(['SET', leaseOf(event), 'of another worker', 'PX', '60000']);
      });
      expect(await send(['GET', leaseOf(event)])).toBe('of another worker');
      expect(await inbox.run(event, async () => {})).toBe('already');
    });

    it('has a lease that ends by itself, from its very beginning', async () => {
      const event = completed();
      await redisInbox(client, { prefix, leaseMs: 20_000 }).run(event, async () => {
        const left = Number(await send(['PTTL', leaseOf(event)]));
        expect(left).toBeGreaterThan(10_000);
        expect(left).toBeLessThanOrEqual(20_000);
      });
    });

    it('takes its own lease for its own, also if its client has sent the command twice', async () => {
      const stuttering: RedisClient = {
        async call(...command: string[]) {
          await send(command);
          return send(command);
        },
      };
      const event = completed();
      expect(await redisInbox(stuttering, { prefix }).run(event, async () => {})).toBe('ran');
      expect(await redisInbox(client, { prefix }).run(event, async () => {})).toBe('already');
    });

    it('keeps marks for ever, and leases only while they are held', async () => {
      const event = completed();
      await redisInbox(client, { prefix }).run(event, async () => {});
      expect(await send(['TTL', `${prefix}:{${event.paymentId}}:marks`])).toBe(-1);
      expect(await send(['EXISTS', leaseOf(event)])).toBe(0);
    });
  },
);

describe('redisInbox', () => {
  it('refuses what is no client, and a lease that is too short to renew', () => {
    expect(() => redisInbox({} as RedisClient)).toThrow(ConfigurationError);
    // The Sentinel client of node-redis takes its commands in another way.
    const sentinel = { sendCommand: async () => '', getMasterNode: () => {} };
    expect(() => redisInbox(sentinel)).toThrow('with Sentinel, one of ioredis');
    for (const leaseMs of [0, 999, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => redisInbox({ sendCommand: async () => '' }, { leaseMs })).toThrow(
        'leaseMs must be milliseconds, 1000 or more',
      );
    }
  });

  const silence = () => new Promise<never>(() => {});

  it('gives up on a client that has lost its server', async () => {
    fakeTimers();
    const running = errorOf(redisInbox({ sendCommand: silence }).run(completed(), async () => {}));
    expect(await whileTimePasses(running, 100)).toHaveProperty('message', 'Redis did not answer within 5000 ms.');
  });

  describe.concurrent('with a client that has lost its server', { timeout: 20_000 }, () => {
    /** Answers that the lease is taken, and then as it is told to. */
    const answering = (later: () => Promise<unknown>) => {
      let commands = 0;
      return { sendCommand: () => (commands++ === 0 ? Promise.resolve(['1']) : later()) };
    };

    /** Milliseconds that the work goes on until its signal is aborted. */
    const lostAfter = (client: RedisClient) =>
      new Promise<number>(resolve => {
        const work = async ({ signal }: { signal: AbortSignal }) => {
          const begun = performance.now();
          await once(signal, 'abort');
          resolve(performance.now() - begun);
          signal.throwIfAborted();
        };
        redisInbox(client, { leaseMs: 1000 })
          .run(completed(), work)
          .catch(() => {});
      });

    it('aborts the signal when the lease is over and Redis has only answered errors', async () => {
      const lost = await lostAfter(answering(() => Promise.reject(new Error('ECONNRESET'))));
      expect(lost).toBeGreaterThan(900);
      expect(lost).toBeLessThan(1600);
    });

    it('aborts the signal when the lease is over and Redis does not answer at all', async () => {
      const lost = await lostAfter(answering(silence));
      expect(lost).toBeGreaterThan(900);
      expect(lost).toBeLessThan(1600);
    });
  });
});

describe.skipIf(lacks(hasRedis, 'a pause of a process over Redis: no Redis at 127.0.0.1:6379'))('over a Redis', () => {
  it('a worker that stands still for longer than its lease is told so as soon as it goes on', {
    timeout: 20_000,
  }, async () => {
    const event = completed();
    const prefix = uniqueName('inbox');
    const client = new Redis({ host: '127.0.0.1' });
    const holder = spawn(
      process.execPath,
      [...FROM_SOURCE, fileURLToPath(new URL('lease-holder.ts', import.meta.url))],
      {
        env: { ...process.env, NODE_ENV: '', PREFIX: prefix, PAYMENT_ID: event.paymentId, LEASE_MS: '1000' },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    onTestFinished(async () => {
      holder.kill('SIGKILL');
      await client.del(`${prefix}:{${event.paymentId}}:marks`);
      client.disconnect();
    });
    const lines = createInterface(holder.stdout)[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('entered');

    const inbox = redisInbox(client, { prefix });
    const runHere = () => inbox.run(event, async () => {});
    // It lives, and renews its lease.
    expect(await runHere()).toBe('busy');
    holder.kill('SIGSTOP');
    await delay(1_100);
    expect(await runHere()).toBe('ran');
    holder.kill('SIGCONT');
    const begun = performance.now();
    expect((await lines.next()).value).toBe(
      'The lease on this payment is lost: another worker may run the same effect.',
    );
    expect(performance.now() - begun).toBeLessThan(1_000);
    // Nothing of its own is left behind, and the mark of the other worker stays.
    await once(holder, 'exit');
    expect(await client.exists(`${prefix}:{${event.paymentId}}:lease`)).toBe(0);
    expect(await runHere()).toBe('already');
  });
});
