import { randomUUID } from 'node:crypto';
import { ConfigurationError } from 'payment-gateway-sdk';
import { type RedisClient, redisInbox } from 'payment-gateway-sdk/redis';
import { inboxSuite } from 'payment-gateway-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
      'call' in client ? client.call(command[0] ?? '', ...command.slice(1)) : client.sendCommand(command);

    inboxSuite({ test: it, make: () => [redisInbox(client, { prefix }), redisInbox(other, { prefix })] });

    it('renews the lease of work that takes longer than the lease', async () => {
      const event = completed();
      const inbox = redisInbox(client, { prefix, leaseMs: 1000 });
      const first = inbox.run(event, () => new Promise(resolve => setTimeout(resolve, 2200)));
      await new Promise(resolve => setTimeout(resolve, 1900));
      expect(await redisInbox(other, { prefix, leaseMs: 1000 }).run(event, async () => {})).toBe('busy');
      expect(await first).toBe('ran');
    });

    it('takes over from a worker that died, once its lease has run out', async () => {
      const event = completed();
      await send(['SET', `${prefix}:{${event.paymentId}}:lease`, 'of a dead worker', 'PX', '150']);
      const inbox = redisInbox(client, { prefix });
      expect(await inbox.run(event, async () => {})).toBe('busy');
      await new Promise(resolve => setTimeout(resolve, 200));
      expect(await inbox.run(event, async () => {})).toBe('ran');
    });

    it('leaves the lease of another alone, and still marks its work', async () => {
      const event = completed();
      const lease = `${prefix}:{${event.paymentId}}:lease`;
      const inbox = redisInbox(client, { prefix });
      await inbox.run(event, async () => {
        await send(['SET', lease, 'of another worker', 'PX', '60000']);
      });
      expect(await send(['GET', lease])).toBe('of another worker');
      expect(await inbox.run(event, async () => {})).toBe('already');
    });

    it('keeps marks for ever, and leases only while they are held', async () => {
      const event = completed();
      await redisInbox(client, { prefix }).run(event, async () => {});
      expect(await send(['TTL', `${prefix}:{${event.paymentId}}:marks`])).toBe(-1);
      expect(await send(['EXISTS', `${prefix}:{${event.paymentId}}:lease`])).toBe(0);
    });
  },
);

describe('redisInbox', () => {
  it('refuses what is no client, and a lease that is too short to renew', () => {
    expect(() => redisInbox({} as RedisClient)).toThrow(ConfigurationError);
    for (const leaseMs of [0, 999, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => redisInbox({ sendCommand: async () => '' }, { leaseMs })).toThrow(
        'leaseMs must be milliseconds, 1000 or more',
      );
    }
  });

  it('gives up on a client that has lost its server', { timeout: 10_000 }, async () => {
    const lost = { sendCommand: () => new Promise(() => {}) };
    await expect(redisInbox(lost).run(completed(), async () => {})).rejects.toThrow(
      'Redis did not answer within 5000 ms',
    );
  });
});
