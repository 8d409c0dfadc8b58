// An upkeep that runs until its signal.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { GatewayClient } from '../../src/client.ts';
import type { Fetch } from '../../src/http/own-fetch.ts';
import { Sandbox } from '../../src/sandbox/index.ts';
import type { Store } from '../../src/store/contract.ts';
import { memoryStore } from '../../src/store/memory.ts';
import { createWebhookHandler } from '../../src/webhooks/handler.ts';
import { PAYOUT, throwing } from '../support/fixtures.ts';
import { accept, MINUTE, NONE_SENT, NONE_SWEPT, notReached, openUpkeptShop, taken } from '../support/upkept-shop.ts';
import { wire } from '../support/wire.ts';

afterEach(() => void vi.useRealTimers());

/** @param fetch of the gateway. By default it accepts every create */
function openShop(fetch: Fetch = accept()) {
  const shop = openUpkeptShop({ fetch });
  const stop = new AbortController();
  /** Runs until `stop` is aborted. Payments are left to their callbacks. */
  const run = (by = shop.gateway, changes: object = {}) =>
    shop.upkeep({ once: false, signal: stop.signal, olderThan: 365 * 1440 * MINUTE, ...changes }, by);
  return { ...shop, stop, run };
}

describe('an upkeep', () => {
  it('does both kinds of due work with once, and returns the counts', async () => {
    const { upkeep, plan, gateway, handlerOf, events } = openShop();
    await plan('payout-1');
    const handler = handlerOf({ process: (id: string) => Promise.reject({ code: 'busy', id }) });
    const counts = { swept: { ...NONE_SWEPT, failed: 1 }, sent: { ...NONE_SENT, created: 1 } };
    expect(await gateway.upkeep({ handler, once: true, olderThan: 0 })).toEqual(counts);
    expect(events.at(-1)).toMatchObject({
      type: 'success',
      operation: 'upkeep',
      counts: { ...counts.sent, ...counts.swept },
    });
    expect((await upkeep()).sent).toEqual(NONE_SENT);
  });

  it('fails with the error of the store, with once', async () => {
    const { open, upkeep } = openShop();
    const broken = open({ due: () => Promise.reject(new Error('the database is gone')) });
    await expect(upkeep({}, broken)).rejects.toThrow('the database is gone');
  });

  it('sends plans as soon as they are written, until its signal', async () => {
    const sent: string[] = [];
    const { run, plan, stop } = openShop(accept(sent));
    // The clock stands still: nothing waits for the next check.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const running = run();
    for (const reference of ['payout-1', 'payout-2', 'payout-3']) {
      await plan(reference);
      await expect.poll(() => sent, { interval: 5 }).toContain(reference);
    }
    stop.abort();
    expect(await running).toEqual({ swept: NONE_SWEPT, sent: { ...NONE_SENT, created: 3 } });
  });

  it('sweeps every minute, also while a payout hangs', async () => {
    vi.useFakeTimers();
    const hanging = Promise.withResolvers<void>();
    const { run, plan, stop, store } = openShop((_, init) => hanging.promise.then(() => taken(init)));
    const due = vi.spyOn(store, 'due');
    const sweeps = () => due.mock.calls.filter(([query]) => query.states.includes('created')).length;
    const running = run();
    await vi.advanceTimersByTimeAsync(50_000);
    expect(sweeps()).toBe(1);
    await plan('payout-1');
    await vi.advanceTimersByTimeAsync(10_100);
    expect(sweeps()).toBe(2);
    hanging.resolve();
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(sweeps()).toBe(3);
    stop.abort();
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await running).sent).toEqual({ ...NONE_SENT, created: 1 });
  });

  const killed = new Error('the connection that listens was killed');
  it.each<[string, () => Promise<void>]>([
    ['rejects', async () => Promise.reject(killed)],
    ['throws', throwing(killed)],
  ])('listens again if the store stops reporting plans and %s', async (_, stopReporting) => {
    vi.useFakeTimers();
    const watched: number[] = [];
    const watch = () => {
      watched.push(performance.now());
      return stopReporting();
    };
    const { open, run, stop } = openShop();
    const began = performance.now();
    const running = run(open({ watch }));
    await vi.advanceTimersByTimeAsync(2_500);
    stop.abort();
    await vi.advanceTimersByTimeAsync(5_000);
    expect((await running).sent).toEqual(NONE_SENT);
    expect(watched.map(at => Math.round((at - began) / 100))).toEqual([0, 10, 20]);
  });

  it('ends after the store has stopped listening', async () => {
    const { run, open, stop } = openShop();
    const stopped = Promise.withResolvers<void>();
    const ended = vi.fn();
    const running = run(open({ watch: () => stopped.promise })).then(ended);
    stop.abort();
    await new Promise(resolve => setTimeout(resolve, 20));
    expect(ended).not.toHaveBeenCalled();
    stopped.resolve();
    await running;
    expect(ended).toHaveBeenCalled();
  });

  it('checks every second if the store does not report plans', async () => {
    vi.useFakeTimers();
    const sent: string[] = [];
    const { open, run, plan, stop } = openShop(accept(sent));
    const running = run(open({ watch: undefined } as never));
    await vi.advanceTimersByTimeAsync(100);
    await plan('payout-1');
    await vi.advanceTimersByTimeAsync(899);
    expect(sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(2);
    await vi.waitFor(() => expect(sent).toEqual(['payout-1']), 60_000);
    stop.abort();
    expect((await running).sent).toEqual({ ...NONE_SENT, created: 1 });
  });

  it('continues after failures of the store and the gateway, with longer and longer pauses', async () => {
    vi.useFakeTimers();
    const { fetch, sent } = wire(notReached, notReached, notReached, taken);
    const { open, store, plan, run, stop, warnings, stateOf } = openShop(fetch);
    let failures = 2;
    const gateway = open({
      due: async (query, ...asked) => {
        if (query.states.includes('planned') && failures-- > 0) throw new Error('the database is gone');
        return store.due(query, ...asked);
      },
    });
    await plan('payout-1');
    const running = run(gateway);
    await vi.advanceTimersByTimeAsync(2_000 + 4_000);
    expect([warnings().map(({ code }) => code), sent.length]).toEqual([['upkeep_failed', 'upkeep_failed'], 1]);
    await vi.advanceTimersByTimeAsync(8_000 + 16_000);
    expect(sent.length).toBe(3);
    await vi.advanceTimersByTimeAsync(32_000);
    expect(await stateOf('payout-1')).toBe('created');
    stop.abort();
    expect((await running).sent).toEqual({ ...NONE_SENT, created: 1, postponed: 3 });
  });
});

it('an upkeep with the real handler puts a refused payout on the review list', async () => {
  const sandbox = new Sandbox({ fetch: async () => new Response(null, { status: 500 }) });
  const clock = { now: 0 };
  const store = memoryStore({ now: () => clock.now }) as Store;
  const gateway = new GatewayClient({ ...sandbox.clientOptions, store });
  const reviewed: (string | undefined)[] = [];
  const onEvent = vi.fn();
  const handler = createWebhookHandler({
    gateway,
    onPaidOut: () => {},
    onEvent,
    onReview: ({ reason, reference }) => void reviewed.push(`${reference}: ${reason}`),
  });
  await gateway.payOut({}, PAYOUT);
  sandbox.faults.next('reject-422');
  const busy = vi.spyOn(store, 'effect').mockResolvedValueOnce('busy');
  expect((await gateway.upkeep({ handler, once: true })).sent).toEqual({ ...NONE_SENT, refused: 1 });
  expect([busy.mock.calls.length, reviewed, onEvent.mock.calls]).toEqual([1, [], []]);
  clock.now = 60 * MINUTE;
  await gateway.upkeep({ handler, once: true });
  expect(reviewed).toEqual(['payout-1: payout_refused']);
  const refused = { reason: 'payout_refused', reference: 'payout-1' };
  expect(onEvent.mock.calls).toMatchObject([[{ ...refused, type: 'review', paymentId: 'payout-1' }]]);
  const [review] = await gateway.reviews();
  expect(review).toMatchObject({
    ...refused,
    id: 'payout-1',
    paymentType: 'WITHDRAWAL',
    amount: '75',
    currency: 'EUR',
  });
  await gateway.resolveReview('payout-1', review?.status ?? '');
  expect(await gateway.reviews()).toEqual([]);
});
