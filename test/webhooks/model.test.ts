// Random interleavings of callbacks, lookups and effects: the last status takes effect once, after all others.
import fc from 'fast-check';
import { createWebhookHandler, memoryStore, type Payment } from 'payment-gateway-sdk';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HANDLER } from '../../src/upkeep/handler-link.ts';
import { withParsedBody } from '../../src/webhooks/request-body.ts';
import { ID } from '../support/fixtures.ts';
import { isFull } from '../support/skips.ts';
import { as, completed, linked, post } from './shop-callbacks.ts';

const RUNS = isFull ? 2_000 : 100;
const SEED = 20261121;

/** The statuses of a payment in order. The document shows the first two, and excludes none of the others. */
const PATHS = [
  ['PENDING', 'COMPLETED'],
  ['PENDING', 'FAILED'],
  ['PENDING', 'AUTHORIZED', 'COMPLETED'],
  ['PENDING', 'AUTHORIZED', 'CANCELED'],
  ['PENDING', 'COMPLETED', 'FAILED'],
  ['PENDING', 'FAILED', 'COMPLETED'],
  ['PENDING', 'COMPLETED', 'REFUNDED'],
  ['PENDING', 'PROCESSING', 'COMPLETED', 'REFUNDED', 'CHARGED_BACK'],
];
const STATUSES = [...new Set(PATHS.flat())];

/** Milliseconds: the longest lag of a record, and the end of all changes. */
const LAG = 400;
const END = 1_500;

const callbacks = fc.record({
  at: fc.nat(END),
  replica: fc.nat(1),
  body: fc.oneof(
    fc.constant({ id: ID }),
    fc.constantFrom(...STATUSES).map(paymentStatus => ({ ...completed, paymentStatus })),
    fc.constantFrom(...STATUSES).map(paymentStatus => ({ id: ID, paymentStatus, amount: 1e6, currency: 'XXX' })),
  ),
  times: fc.integer({ min: 1, max: 3 }),
});

const scene = fc.record({
  path: fc.constantFrom(...PATHS),
  moves: fc.array(fc.nat(END), { minLength: 5, maxLength: 5 }),
  callbacks: fc.array(callbacks, { maxLength: 25 }),
  /** The milliseconds of each lookup, and of its record's lag. */
  lookups: fc.array(fc.tuple(fc.nat(1_000), fc.nat(LAG)), { minLength: 1, maxLength: 20 }),
  /** Milliseconds that each effect takes. Every third one fails. */
  effects: fc.array(fc.nat(200), { minLength: 1, maxLength: 10 }),
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const after = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms));

it(`the last status of a payment takes effect exactly once, after all others, in ${RUNS} random scenes`, {
  timeout: 60_000,
  tags: 'long',
}, async () => {
  const seen = { handled: 0, later: 0, failures: 0, skipped: 0 };
  await fc.assert(
    fc.asyncProperty(scene, async ({ path, moves, callbacks, lookups, effects }) => {
      const start = Date.now();
      const times = moves.slice(0, path.length - 1).sort((a, b) => a - b);
      const statusAt = (ms: number) => path[times.filter(at => at <= ms).length] ?? '';
      let [looks, works] = [0, 0];
      const done: string[] = [];

      const store = memoryStore();
      const effect: typeof store.effect = async (about, work) => {
        const result = await store.effect(about, work);
        if (result === 'skipped') seen.skipped += 1;
        return result;
      };
      const getPayment = async (): Promise<Payment> => {
        const [takes, behind] = lookups[looks++ % lookups.length] ?? [0, 0];
        const status = statusAt(Date.now() - start - behind);
        await after(takes);
        return as(status);
      };
      const replicas = [0, 1].map(() =>
        createWebhookHandler({
          gateway: linked({ store: { ...store, effect } }, getPayment),
          onPayment: async payment => {
            const work = works++;
            await after(effects[work % effects.length] ?? 0);
            if (work % 3 === 2) {
              seen.failures += 1;
              throw new Error('the shop is on fire');
            }
            done.push(payment.paymentStatus === 'UNKNOWN' ? payment.rawPaymentStatus : payment.paymentStatus);
          },
          onError() {},
          onEvent() {},
        }),
      );
      const replies = callbacks.flatMap(({ at, replica, body, times }) =>
        Array.from({ length: times }, async () => {
          await after(at);
          const reply = await replicas[replica]?.(withParsedBody(post(null), body));
          if (reply?.status === 200) seen.handled += 1;
          else seen.later += 1;
        }),
      );
      await vi.advanceTimersByTimeAsync(END + 60_000);
      await Promise.all(replies);

      // The record is final, and a sweep finds the status that no callback reported.
      for (let tries = 0, result = ''; result !== 'already'; tries++) {
        expect(tries).toBeLessThan(10);
        const sweeping = replicas[tries % 2]?.[HANDLER]
          .process(ID, { timeout: 60_000 })
          .catch(() => ({ result: 'failed' }));
        await vi.advanceTimersByTimeAsync(5_000);
        ({ result = '' } = (await sweeping) ?? {});
      }
      const last = path.at(-1);
      expect(done.filter(status => status === last)).toEqual([last]);
      expect(done.at(-1)).toBe(last);
      expect(new Set(done).size).toBe(done.length);
    }),
    { numRuns: RUNS, seed: SEED },
  );
  // Every kind of scene occurs.
  expect(Object.entries(seen).filter(([, count]) => count < RUNS / 20)).toEqual([]);
});
