// Lanes for callbacks: how much of each kind is taken at once.
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { digestOf } from '../../src/webhooks/claim.ts';
import { Lane, LIMITS, UnknownIds } from '../../src/webhooks/lanes.ts';
import { withParsedBody } from '../../src/webhooks/request-body.ts';
import { expectDocumented } from '../support/documents.ts';
import { ID } from '../support/fixtures.ts';
import { tableOf } from '../support/markdown.ts';
import { whileTimePasses } from '../support/passing-time.ts';
import { as, callback, claiming, completed, openShop, post, resultsOf } from '../support/shop-callbacks.ts';

afterEach(() => void vi.useRealTimers());

const KIB = 1024;

/** A body that sends so much, and then nothing until it is let go. */
function stalling(bytes: number) {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: given => {
      controller = given;
      controller.enqueue(new Uint8Array(bytes));
    },
  });
  const end = () => {
    try {
      controller?.close();
    } catch {
      // It was cancelled, because there was no room for it.
    }
  };
  return { body, end };
}

type Shop = ReturnType<typeof openShop>;

const SIGNED = 'https://shop.example/?signed';
/** With a gateway whose good token is `?signed`. */
const open = () =>
  openShop({
    gateway: {
      getPayment: async id => ({ ...completed, id }),
      checkCallbackUrl: url => (url === SIGNED ? 'token' : undefined),
      isCallbackOf: () => true,
    },
  });

describe('the lane of callbacks without a token', () => {
  it('reads 16 MiB of bodies at once, turns others away, and has room again when they end', {
    tags: 'long',
  }, async () => {
    const { reply } = open();
    const bodies = Array.from({ length: 80 }, () => stalling(256 * KIB));
    const answers: string[] = [];
    const reading = bodies.map(async ({ body }) => void answers.push(await reply(post(body))));
    await expect.poll(() => answers).toEqual(Array(16).fill('503 busy'));
    expect(await reply(post(callback))).toBe('503 busy');
    expect(await reply(post(callback, {}, SIGNED))).toBe('200 handled');
    for (const { end } of bodies) end();
    await Promise.all(reading);
    expect(answers.slice(16)).toEqual(Array(64).fill('400 not_json'));
    expect(await reply(post(callback))).toBe('200 handled before');
  });

  it('counts a body no longer once it is read', { tags: 'long' }, async () => {
    const slow = Promise.withResolvers<void>();
    const { reply, events } = openShop({
      gateway: { getPayment: async id => ({ ...completed, id }) },
      onPayment: () => slow.promise,
    });
    const waiting: Promise<string>[] = [];
    for (let index = 1; index <= 65; index++) {
      const body = JSON.stringify({ id: randomUUID() });
      waiting.push(reply(post(body.padEnd(256 * KIB))));
      await expect.poll(() => events.length, { interval: 1 }).toBe(index);
    }
    slow.resolve();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['200 handled']));
  });

  it('counts a body that a framework has parsed until the answer, because the framework keeps it', async () => {
    const slow = Promise.withResolvers<void>();
    const { handler } = openShop({
      gateway: { getPayment: async id => ({ ...completed, id }) },
      onPayment: () => slow.promise,
    });
    const parsed = () => {
      const headers = { 'content-length': String(256 * KIB) };
      return handler(withParsedBody(post(null, headers), { body: { ...completed, id: randomUUID() } }));
    };
    const waiting = Array.from({ length: 64 }, parsed);
    expect((await parsed()).status).toBe(503);
    slow.resolve();
    expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([200]));
    expect((await parsed()).status).toBe(200);
  });

  it('counts a parsed body of unknown length as the largest, and refuses one that says it is larger', async () => {
    const { handler } = openShop();
    const parsed = (headers: Record<string, string>) => withParsedBody(post(null, headers), { body: completed });
    expect((await handler(parsed({ 'content-length': String(256 * KIB + 1) }))).status).toBe(413);
    const many = await Promise.all(Array.from({ length: 65 }, () => handler(parsed({}))));
    expect(many.map(({ status }) => status).filter(status => status === 503)).toHaveLength(1);
  });

  it('has a thousand places, from the arrival until the answer', { tags: 'long' }, async () => {
    const slow = Promise.withResolvers<void>();
    const { reply, events } = openShop({
      gateway: {
        getPayment: async id => ({ ...completed, id }),
        checkCallbackUrl: url => (url === SIGNED ? 'token' : undefined),
      },
      onPayment: () => slow.promise,
    });
    const waiting = Array.from({ length: 1000 }, () => reply(post(JSON.stringify({ id: randomUUID() }))));
    await expect.poll(() => events.length).toBe(1000);
    expect(await reply(post(callback))).toBe('503 busy');
    slow.resolve();
    expect(await reply(post(callback, {}, SIGNED))).toBe('200 handled');
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['200 handled']));
    expect(await reply(post(callback))).toBe('200 handled before');
    expect(resultsOf(events).filter(result => result === 'busy')).toHaveLength(1);
  });

  it('lets a sweep that shares a turn look again in its own lane', async () => {
    const others = Promise.withResolvers<never>();
    const entered = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    let status = 'FAILED';
    const { handler, reply } = openShop({
      gateway: { getPayment: async id => (id === ID ? as(status) : others.promise) },
      onPayment: async ({ paymentStatus }) => {
        if (paymentStatus !== 'FAILED') return;
        entered.resolve();
        await leave.promise;
      },
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const first = reply(claiming('FAILED'));
    await entered.promise;
    // These two share the next turn, which meets another final mark and looks again: their lane is full by then.
    const unsigned = reply(claiming('COMPLETED'));
    await vi.advanceTimersByTimeAsync(20);
    const swept = handler.process(ID);
    const flood = Array.from({ length: 16 }, () => reply(post(JSON.stringify({ id: randomUUID() }))));
    await vi.advanceTimersByTimeAsync(20);
    status = 'COMPLETED';
    leave.resolve();
    const ended = Promise.all([first, swept.then(({ result }) => result), unsigned]);
    expect(await whileTimePasses(ended, 20)).toEqual(['200 handled', 'ran', '200 handled']);
    others.reject(new Error('the end of the test'));
    await Promise.all(flood);
  });

  it.each(['COMPLETED', 'FAILED'])(
    'does not keep a genuine signed callback waiting by a forged one of its payment, which is looked up again: %s',
    async status => {
      const others = Promise.withResolvers<never>();
      let recorded = 'PENDING';
      const { reply } = openShop({
        gateway: {
          getPayment: async id => (id === ID ? as(recorded) : others.promise),
          checkCallbackUrl: url => (url === SIGNED ? 'token' : undefined),
        },
      });
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const forged = reply(claiming('REFUNDED'));
      await vi.advanceTimersByTimeAsync(20);
      const flood = Array.from({ length: 20 }, () => reply(post(JSON.stringify({ id: randomUUID() }))));
      // Its second lookup waits in the flood by then.
      await vi.advanceTimersByTimeAsync(1_000);
      recorded = status;
      const genuine = reply(post(JSON.stringify(as(status)), {}, SIGNED));
      // That shows the final status, and the third one comes after a pause.
      await vi.advanceTimersByTimeAsync(1_040);
      expect(await Promise.race([genuine, 'waiting'])).toBe('200 handled before');
      expect(await forged).toBe('200 handled');
      others.reject(new Error('the end of the test'));
      await Promise.all(flood);
    },
  );

  it('does not keep a signed callback waiting that joins one of its own', async () => {
    const others = Promise.withResolvers<never>();
    const { reply, events } = openShop({
      gateway: {
        getPayment: async id => (id === ID ? completed : others.promise),
        checkCallbackUrl: url => (url === SIGNED ? 'token' : undefined),
      },
    });
    const flood = Array.from({ length: 16 }, () => reply(post(JSON.stringify({ id: randomUUID() }))));
    await expect.poll(() => events.length).toBe(16);
    const unsigned = reply(post(callback));
    await expect.poll(() => events.length).toBe(17);
    expect(await reply(post(callback, {}, SIGNED))).toBe('200 handled');
    expect(await unsigned).toBe('200 handled');
    others.reject(new Error('the end of the test'));
    await Promise.all(flood);
  });
});

it.each([
  ['signed', 32, (shop: Shop, id: string) => shop.reply(post(JSON.stringify({ id }), {}, SIGNED))],
  ['unsigned', 16, (shop: Shop, id: string) => shop.reply(post(JSON.stringify({ id })))],
  ['sweep', 8, (shop: Shop, id: string) => shop.handler.process(id)],
] as const)(
  'the lane "%s" makes %d lookups at a time, and the others in their turn',
  { tags: 'long' },
  async (_, most, take) => {
    const answers: (() => void)[] = [];
    const shop = openShop({
      gateway: {
        getPayment: id => new Promise(resolve => answers.push(() => resolve({ ...completed, id }))),
        checkCallbackUrl: url => (url === SIGNED ? 'token' : undefined),
        isCallbackOf: () => true,
      },
    });
    const taken = Promise.all(Array.from({ length: 40 }, () => take(shop, randomUUID())));
    await vi.waitFor(() => expect(answers).toHaveLength(most));
    await new Promise(resolve => setTimeout(resolve, 20));
    expect(answers).toHaveLength(most);
    answers[0]?.();
    await vi.waitFor(() => expect(answers).toHaveLength(most + 1));
    for (let answered = 1; answered < 40; answered += 1) {
      await vi.waitFor(() => expect(answers.length).toBeGreaterThan(answered));
      answers[answered]?.();
    }
    expect(await taken).toHaveLength(40);
  },
);

it('docs/callback-rules.md tells how wide the lanes are', () => {
  const whose = {
    signed: 'a good token in the address (`signCallbackUrls`)',
    unsigned: 'no good token',
    sweep: '`handler.process`',
  };
  const rows = Object.entries(LIMITS).map(([name, { lookups, longestWait, callbacks, bytes }]) => [
    `\`${name}\``,
    whose[name as keyof typeof whose],
    String(lookups),
    longestWait ? `${longestWait / 1000} s` : 'as long as it takes',
    String(callbacks),
    bytes ? `${bytes / 2 ** 20} MiB` : '–',
  ]);
  const names = ['lane', 'callbacks with', 'lookups at once', 'wait for one', 'callbacks at once', 'bodies'];
  expectDocumented('callback-rules.md', 'lanes', tableOf(names, rows));
});

it('what is kept of a claim is small, however long what it claims', () => {
  const long = 'x'.repeat(256 * KIB);
  const { paymentId, ...kept } = digestOf({
    id: ID,
    amount: long,
    currency: long,
    reference: long,
    paymentStatus: long,
  });
  expect(paymentId).toBe(ID);
  expect(JSON.stringify(kept).length).toBeLessThan(500);
});

it('a body that ends after its callback was answered takes no room', () => {
  const lane = new Lane('unsigned');
  const late = lane.enter();
  late.leave();
  late.hold(LIMITS.unsigned.bytes);
  expect(() => lane.enter().hold(LIMITS.unsigned.bytes)).not.toThrow();
});

describe('a full lane', () => {
  const refusal = (what: string) =>
    expect.objectContaining({
      name: 'WebhookError',
      code: 'busy',
      message: `The callback was not processed: ${what} are being processed already. It may be sent again.`,
    });

  it('says what it is full of', () => {
    const lane = new Lane('unsigned');
    expect(() => lane.enter().hold(LIMITS.unsigned.bytes + 1)).toThrow(refusal('bodies of 16 MiB'));
    const many = new Lane('unsigned');
    for (let index = 0; index < 1000; index++) many.enter();
    expect(() => many.enter()).toThrow(refusal('1000 callbacks'));
  });

  it('turns away what has waited for a lookup for ten seconds, and takes it later', async () => {
    vi.useFakeTimers();
    let isDown = true;
    const { reply, errors } = openShop({}, async id => (isDown ? new Promise(() => {}) : { ...completed, id }));
    // A lookup is given up after ten seconds: the second 16 begin then, and those after them have waited too long.
    const ahead = Array.from({ length: 32 }, () => reply(post(JSON.stringify({ id: randomUUID() }))));
    await vi.advanceTimersByTimeAsync(5);
    const late = reply(post(callback));
    await vi.advanceTimersByTimeAsync(10_005);
    expect(await late).toBe('503 busy');
    expect(errors.at(-1)).toEqual(refusal('16 lookups'));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(new Set(await Promise.all(ahead))).toEqual(new Set(['503 failed']));
    isDown = false;
    expect(await reply(post(callback))).toBe('200 handled');
  });
});

describe('ids that the gateway did not know', () => {
  const idOf = (index: number) => `11111111-2222-4333-8444-${String(index).padStart(12, '0')}`;
  const remembering = (count: number) => {
    const ids = new UnknownIds();
    for (let index = 0; index < count; index++) ids.add(idOf(index));
    return ids;
  };

  it('are remembered up to ten thousand, and the oldest is forgotten first', () => {
    const ids = remembering(10_000);
    expect([ids.has(idOf(0)), ids.has(idOf(9_999))]).toEqual([true, true]);
    ids.add(idOf(10_000));
    expect([ids.has(idOf(0)), ids.has(idOf(1)), ids.has(idOf(10_000))]).toEqual([false, true, true]);
  });

  it('are as new as their last lookup', () => {
    const ids = remembering(10_000);
    ids.add(idOf(0));
    ids.add(idOf(10_000));
    expect([ids.has(idOf(0)), ids.has(idOf(1))]).toEqual([true, false]);
  });
});
