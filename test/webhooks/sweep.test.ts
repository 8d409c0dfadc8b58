// Processing a payment without a callback, as upkeep does: the same effect, once for both.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { errorOf, ID } from '../support/fixtures.ts';
import { whileTimePasses } from '../support/passing-time.ts';
import { callback, claiming, completed, openShop, post, resultsOf } from './shop-callbacks.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const settled = <T>(work: Promise<T>) => whileTimePasses(work, 250);

it('shares its one effect with callbacks', async () => {
  const { process, reply, effects } = openShop();
  expect(await process(ID)).toMatchObject({ result: 'ran', payment: completed });
  expect(await process(ID.toUpperCase())).toMatchObject({ result: 'already', payment: completed });
  expect(await reply(post(callback))).toBe('200 handled before');
  expect(effects).toHaveLength(1);
});

it('does not wait forever inside a function of the same payment', async () => {
  let calls = 0;
  const { process, reply } = openShop({
    onPayment: async payment => {
      calls += 1;
      if (calls === 1) await process(payment.id);
    },
  });
  expect(await settled(reply(claiming('COMPLETED')))).toBe('503 failed');
  expect(await settled(reply(claiming('COMPLETED')))).toBe('200 handled before');
  expect(calls).toBe(2);
});

it('ends its wait at the timeout or signal, and running work continues', async () => {
  const slow = Promise.withResolvers<void>();
  const { process, events, lookups } = openShop({ onPayment: () => slow.promise });
  const waiting = errorOf(process(ID, { timeout: 1000 }));
  await vi.advanceTimersByTimeAsync(1000);
  expect(await waiting).toMatchObject({ name: 'ConnectionError', code: 'timeout' });
  const caller = new AbortController();
  const stopped = errorOf(process(ID, { signal: caller.signal }));
  caller.abort();
  expect(await stopped).toMatchObject({ name: 'ConnectionError', code: 'aborted' });
  const other = randomUUID();
  expect(await errorOf(process(other, { signal: AbortSignal.abort() }))).toMatchObject({ code: 'aborted' });
  expect(lookups).not.toContain(other);
  slow.resolve();
  expect(await process(ID)).toMatchObject({ result: 'already' });
  expect(resultsOf(events)).toEqual(['failed', 'failed', 'failed', 'already']);
});

it('gives its place back if it stops waiting for work that does not end', async () => {
  const { process } = openShop(
    { onPayment: ({ id }) => (id === ID ? new Promise(() => {}) : undefined) },
    async id => ({ ...completed, id }),
  );
  const waiting = Array.from({ length: 100 }, () => errorOf(process(ID, { timeout: 100 })));
  await vi.advanceTimersByTimeAsync(100);
  await Promise.all(waiting);
  expect(await process(randomUUID())).toMatchObject({ result: 'ran' });
});
