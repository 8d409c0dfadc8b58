// redisInbox over a double of Redis: which commands it sends to which client, and what becomes of its timers.
import { ConfigurationError } from 'payment-gateway-sdk';
import { redisInbox } from 'payment-gateway-sdk/redis';
import { describe, expect, it, vi } from 'vitest';
import { LONGEST_TIMER } from '../../src/deadline.ts';
import { errorOf, ID } from '../support/fixtures.ts';

const EVENT = { paymentId: ID, status: 'COMPLETED', final: true };
const never = () => new Promise<never>(() => {});

/** A Redis that answers as it is told, and keeps what it was asked: which script, its keys, its token and its arguments. */
function redis(answers: { enter?: () => unknown; renew?: () => unknown; leave?: () => unknown } = {}) {
  const asked: [script: string, ...args: string[]][] = [];
  const tokens = new Set<string>();
  const keys: string[][] = [];
  const sendCommand = async (command: string[]): Promise<unknown> => {
    const [name, script = '', count, lease = '', marks = '', token = '', ...args] = command;
    expect([name, count]).toEqual(['EVAL', '2']);
    keys.push([lease, marks]);
    tokens.add(token);
    if (script.includes("'SET'")) {
      asked.push(['enter', ...args]);
      return (answers.enter ?? (() => ['1']))();
    }
    if (script.includes('PEXPIRE')) {
      asked.push(['renew', ...args]);
      return (answers.renew ?? (() => 1))();
    }
    asked.push(['leave', ...args]);
    return (answers.leave ?? (() => 1))();
  };
  return { client: { sendCommand }, asked, tokens, keys };
}

/** Fakes the clock too, by which leases are measured. */
function fakeClock() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  return { [Symbol.dispose]: () => void vi.useRealTimers() };
}

describe('redisInbox', () => {
  it('takes a lease, runs the work, and marks it as it gives the lease back', async () => {
    const { client, asked, tokens, keys } = redis();
    const inbox = redisInbox(client);
    expect(await inbox.run(EVENT, async ({ signal }) => expect(signal.aborted).toBe(false))).toBe('ran');
    expect(await inbox.run({ ...EVENT, status: 'PENDING', final: false }, async () => {})).toBe('ran');
    expect(asked).toEqual([
      ['enter', '30000'],
      ['leave', 'COMPLETED', '1'],
      ['enter', '30000'],
      ['leave', 'PENDING', '0'],
    ]);
    expect(new Set(keys.map(pair => pair.join()))).toEqual(
      new Set([`payment-gateway:inbox:{${ID}}:lease,payment-gateway:inbox:{${ID}}:marks`]),
    );
    // One for each run.
    expect(tokens.size).toBe(2);
  });

  it.each([1_000, 1_500.4, LONGEST_TIMER])('takes a lease of %s ms, and a prefix', async leaseMs => {
    const { client, asked, keys } = redis();
    await redisInbox(client, { leaseMs, prefix: 'shop' }).run(EVENT, async () => {});
    expect([asked[0], keys[0]]).toEqual([
      ['enter', String(Math.round(leaseMs))],
      [`shop:{${ID}}:lease`, `shop:{${ID}}:marks`],
    ]);
  });

  it.each([
    [{ leaseMs: 999 }, 'redisInbox: leaseMs must be milliseconds, 1000 or more, and at most 24 days.'],
    [{ leaseMs: LONGEST_TIMER + 1 }, 'redisInbox: leaseMs must be'],
    [{ leaseMs: '2000' }, 'redisInbox: leaseMs must be'],
    [{ leaseMs: Number.NaN }, 'redisInbox: leaseMs must be'],
    [{ prefix: '' }, 'redisInbox: prefix must not be empty.'],
  ])('refuses %o', (options, message) => {
    expect(() => redisInbox(redis().client, options as never)).toThrow(ConfigurationError);
    expect(() => redisInbox(redis().client, options as never)).toThrow(message);
  });

  it('gives back the lease of a payment that needs nothing, unless another worker has it', async () => {
    const ours = redis({ enter: () => ['1', 'COMPLETED', '1'] });
    expect(await redisInbox(ours.client).run(EVENT, never)).toBe('already');
    expect(ours.asked).toEqual([['enter', '30000'], ['leave']]);
    const theirs = redis({ enter: () => ['0', 'FAILED', '1'] });
    expect(await redisInbox(theirs.client).run(EVENT, never)).toEqual([{ status: 'FAILED', final: true }]);
    expect(theirs.asked).toEqual([['enter', '30000']]);
  });

  it('reads answers of clients that answer bytes', async () => {
    const enter = () => ['1', 'PENDING', '0', 'REFUNDED', '1'].map(text => Buffer.from(text));
    expect(await redisInbox(redis({ enter }).client).run(EVENT, never)).toEqual([
      { status: 'PENDING', final: false },
      { status: 'REFUNDED', final: true },
    ]);
  });

  it('gives back a lease that it may have got where Redis did not answer', async () => {
    const refused = new Error('connection lost');
    const { client, asked, tokens } = redis({
      enter: () => Promise.reject(refused),
      leave: () => Promise.reject(refused),
    });
    expect(await errorOf(redisInbox(client).run(EVENT, never))).toBe(refused);
    expect([asked, tokens.size]).toEqual([[['enter', '30000'], ['leave']], 1]);
  });

  it('marks nothing of a work that failed, and tells why, also if the lease cannot be given back', async () => {
    const thrown = new Error('of the shop');
    const { client, asked } = redis({ leave: () => Promise.reject(new Error('connection lost')) });
    expect(await errorOf(redisInbox(client).run(EVENT, () => Promise.reject(thrown)))).toBe(thrown);
    expect(asked).toEqual([['enter', '30000'], ['leave']]);
  });

  it('waits five seconds for an answer', async () => {
    using _ = fakeClock();
    const { client } = redis({ enter: never });
    const failing = errorOf(redisInbox(client).run(EVENT, never));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await failing).toEqual(new Error('Redis did not answer within 5000 ms.'));
  });
});

describe('the lease of a redisInbox', () => {
  it('is renewed at each third of it, and leaves no timer behind', async () => {
    using _ = fakeClock();
    const { client, asked } = redis();
    const work = Promise.withResolvers<void>();
    const running = redisInbox(client, { leaseMs: 3_000 }).run(EVENT, () => work.promise);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(asked).toEqual([
      ['enter', '3000'],
      ['renew', '3000'],
      ['renew', '3000'],
    ]);
    work.resolve();
    expect([await running, vi.getTimerCount()]).toEqual(['ran', 0]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(asked).toHaveLength(4);
  });

  it('leaves no timer behind where an answer comes after the end', async () => {
    for (const late of [1, 0]) {
      using _ = fakeClock();
      const renewed = Promise.withResolvers<number>();
      const { client, asked } = redis({ renew: () => renewed.promise });
      const work = Promise.withResolvers<void>();
      let signal: AbortSignal | undefined;
      const running = redisInbox(client, { leaseMs: 3_000 }).run(EVENT, context => {
        signal = context.signal;
        return work.promise;
      });
      await vi.advanceTimersByTimeAsync(1_000);
      work.resolve();
      await running;
      renewed.resolve(late);
      const before = asked.length;
      // Whatever is left would ask again by then, or take the lease for lost.
      await vi.advanceTimersByTimeAsync(10_000);
      expect([asked.length, signal?.aborted]).toEqual([before, false]);
    }
  });

  it('is lost when another worker has it, is not renewed any more, and the signal tells', async () => {
    using _ = fakeClock();
    const { client, asked } = redis({ renew: () => 0 });
    const work = Promise.withResolvers<void>();
    let signal: AbortSignal | undefined;
    const running = redisInbox(client, { leaseMs: 3_000 }).run(EVENT, context => {
      signal = context.signal;
      return work.promise;
    });
    await vi.advanceTimersByTimeAsync(999);
    expect(signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(signal?.reason).toEqual(
      new Error('The lease on this payment is lost: another worker may run the same effect.'),
    );
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(asked).toHaveLength(2);
    work.resolve();
    await running;
  });

  it('is lost when its time is over and Redis has not answered, and no sooner', async () => {
    using _ = fakeClock();
    let renewals = 0;
    const { client } = redis({
      renew: () => {
        renewals += 1;
        return renewals === 1 ? 1 : Promise.reject(new Error('connection lost'));
      },
    });
    const work = Promise.withResolvers<void>();
    let signal: AbortSignal | undefined;
    const running = redisInbox(client, { leaseMs: 3_000 }).run(EVENT, context => {
      signal = context.signal;
      return work.promise;
    });
    // Renewed after one second, it is ours for three more.
    await vi.advanceTimersByTimeAsync(3_999);
    expect(signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect([signal?.aborted, vi.getTimerCount()]).toEqual([true, 0]);
    work.resolve();
    await running;
  });
});

describe('a client of Redis', () => {
  const answering = () => vi.fn(async (..._: unknown[]) => ['1', 'COMPLETED', '1'] as unknown);
  const run = (client: object) => redisInbox(client as never).run(EVENT, never);
  const script = expect.stringContaining("'SET'");
  const rest = ['2', expect.stringContaining(':lease'), expect.stringContaining(':marks'), expect.any(String), '30000'];

  it('is sent a command in its own way', async () => {
    const [call, sendCommand] = [answering(), answering()];
    await run({ call, sendCommand: 1 });
    expect(call.mock.calls[0]).toEqual(['EVAL', script, ...rest]);
    await run({ sendCommand, call: 1 });
    expect(sendCommand.mock.calls[0]).toEqual([['EVAL', script, ...rest]]);
  });

  it('that is a cluster of node-redis is told the first key, to find the node', async () => {
    const sendCommand = answering();
    await run({ sendCommand, nodeByAddress: new Map() });
    const key = `payment-gateway:inbox:{${ID}}:lease`;
    expect(sendCommand.mock.calls[0]).toEqual([key, false, ['EVAL', script, ...rest]]);
  });

  it.each([
    ['that is none', {}],
    ['whose methods are none', { call: 1, sendCommand: 1 }],
    ['with Sentinel, of node-redis', { sendCommand() {}, getMasterNode() {} }],
  ])('%s is refused', (_, client) => {
    expect(() => redisInbox(client as never)).toThrow(ConfigurationError);
    expect(() => redisInbox(client as never)).toThrow(
      'redisInbox takes a connected client, or cluster client, of node-redis or ioredis; with Sentinel, one of ioredis.',
    );
  });
});
