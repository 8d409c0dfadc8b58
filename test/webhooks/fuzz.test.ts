// Random bodies cause only a WebhookError. They cause neither lookups of impossible ids nor growth of memory.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { createWebhookHandler, type Payment } from 'payment-gateway-sdk';
import { describe, expect, it, vi } from 'vitest';
import { ID, record } from '../support/fixtures.ts';
import { isFull } from '../support/skips.ts';

/** CI plays all of them. */
const BODIES = isFull ? 10_000 : 1_000;
const SEED = 20261121;
const callback = record('completed CARD callback');
const near: Record<string, unknown> = JSON.parse(callback);

/** A callback with some of its fields replaced, dropped or added. */
const nearValid = fc
  .dictionary(
    fc.oneof(fc.constantFrom(...Object.keys(near), 'result', '__proto__', 'toString'), fc.string()),
    fc.oneof(fc.jsonValue(), fc.constantFrom(ID, 'COMPLETED', 25.5, -1, '', undefined)),
    { maxKeys: 4 },
  )
  .map(changes => JSON.stringify({ ...near, ...changes }));

/** A callback cut, doubled, or with a piece of it changed. */
const damaged = fc
  .tuple(fc.nat(callback.length), fc.nat(callback.length), fc.string({ maxLength: 5 }))
  .map(([from, to, text]) => callback.slice(0, from) + text + callback.slice(to));

const bodies = fc.oneof(
  nearValid.map(text => text as string | Uint8Array),
  damaged,
  fc.json(),
  fc.string(),
  fc.uint8Array({ maxLength: 200 }),
);

const sampled = fc.sample(bodies, { numRuns: BODIES, seed: SEED });

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

describe(`${BODIES} random and near-valid bodies`, () => {
  it('make the handler look up only possible ids, without growth', {
    timeout: 30_000,
    tags: 'long',
  }, async () => {
    // Only counted, because kept lookups would grow.
    const lookups = { all: 0, odd: 0 };
    const effects: string[] = [];
    const handler = createWebhookHandler({
      gateway: {
        getPayment: async id => {
          lookups.all += 1;
          if (!/^[\da-f-]{36}$/i.test(id)) lookups.odd += 1;
          return near as unknown as Payment;
        },
      },
      onPayment: payment => void effects.push(payment.id),
      onError() {},
    });
    const statuses = new Map<number, number>();
    const heaps: number[] = [];
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    for (const [index, body] of sampled.entries()) {
      const replying = handler(new Request('https://shop.example', { method: 'POST', body: body as string }));
      // A claim that is ahead of the record is looked up again after a while.
      const passing = setInterval(() => vi.advanceTimersByTime(500), 5);
      const { status } = await replying;
      clearInterval(passing);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (index % 1_000 === 999) {
        collect();
        heaps.push(process.memoryUsage().heapUsed);
      }
    }
    vi.useRealTimers();
    expect([...statuses.keys()].sort()).toEqual([200, 400, 503]);
    expect(statuses.get(503)).toBeLessThan(100);
    expect(lookups.all).toBeLessThan(BODIES / 2);
    expect(lookups.odd).toBe(0);
    expect(effects).toEqual([ID]);
    // The second half only, because the first compiles code. A kept body with its request takes kilobytes.
    expect((heaps.at(-1) ?? 0) - (heaps.at(heaps.length / 2) ?? 0)).toBeLessThan(1_000_000);
  });
});
