import { afterEach, describe, expect, it, vi } from 'vitest';
import { whileTimePasses } from '../support/passing-time.ts';
import { accept, MINUTE, NONE, notReached, openShop, taken } from '../support/planned-shop.ts';
import { json, wire } from '../support/wire.ts';

afterEach(() => void vi.useRealTimers());

describe('a drain that follows', () => {
  it('sends what is planned as soon as it is planned, until it is stopped', async () => {
    const sent: string[] = [];
    const { gateway, plan } = openShop(accept(sent));
    const stop = new AbortController();
    // The clock stands still: nobody waits for the next look.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const following = gateway.drain({ follow: true, signal: stop.signal });
    for (const reference of ['payout-1', 'payout-2', 'payout-3']) {
      await plan(reference);
      await expect.poll(() => sent, { interval: 5 }).toContain(reference);
    }
    stop.abort();
    expect(await following).toEqual({ ...NONE, created: 3 });
  });

  it('begins again with short pauses once something was sent', async () => {
    vi.useFakeTimers();
    const { fetch, sent } = wire(notReached, notReached, taken, notReached, taken);
    const { gateway, plan, clock } = openShop(fetch);
    const stop = new AbortController();
    await plan('payout-1');
    const following = gateway.drain({ follow: true, concurrency: 1, signal: stop.signal });
    await vi.advanceTimersByTimeAsync(100);
    clock.now += 10 * MINUTE;
    await vi.advanceTimersByTimeAsync(2_000);
    clock.now += 10 * MINUTE;
    await plan('payout-2');
    await vi.advanceTimersByTimeAsync(4_000);
    // The third is taken, the fourth is not: after a success the pause is the first one.
    expect(sent.length).toBe(4);
    clock.now += 10 * MINUTE;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(sent.length).toBe(5);
    stop.abort();
    expect(await following).toMatchObject({ created: 2 });
  });

  const killed = new Error('the connection that listens was killed');
  it.each<[string, () => Promise<void>]>([
    ['rejects', async () => Promise.reject(killed)],
    [
      'throws at once',
      () => {
        throw killed;
      },
    ],
  ])('listens again where the journal stops telling and %s, as long as it follows', async (_, stopTelling) => {
    vi.useFakeTimers();
    const watched: number[] = [];
    const watch = () => {
      watched.push(performance.now());
      return stopTelling();
    };
    const { gateway } = openShop(accept(), { watch });
    const stop = new AbortController();
    const began = performance.now();
    const following = gateway.drain({ follow: true, signal: stop.signal });
    await vi.advanceTimersByTimeAsync(2_500);
    stop.abort();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await following).toEqual(NONE);
    expect(watched.map(at => Math.round((at - began) / 100))).toEqual([0, 10, 20]);
  });

  it('looks every second where the journal does not tell', async () => {
    vi.useFakeTimers();
    const sent: string[] = [];
    const { gateway, plan } = openShop(accept(sent), { watch: undefined } as never);
    const stop = new AbortController();
    const following = gateway.drain({ follow: true, signal: stop.signal });
    await vi.advanceTimersByTimeAsync(100);
    await plan('payout-1');
    await vi.advanceTimersByTimeAsync(899);
    expect(sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(2);
    await vi.waitFor(() => expect(sent).toEqual(['payout-1']));
    stop.abort();
    expect(await following).toEqual({ ...NONE, created: 1 });
  });

  it('goes on when the journal or the gateway fails, ever more slowly', async () => {
    vi.useFakeTimers();
    const { fetch, sent } = wire(notReached, notReached, notReached, taken);
    const shop = openShop(fetch);
    let failures = 2;
    const gateway = shop.open({
      ...shop.journal,
      claim: async (...asked) => {
        if (failures-- > 0) throw new Error('the database is gone');
        return shop.journal.claim(...asked);
      },
    });
    await shop.plan('payout-1');
    const stop = new AbortController();
    const following = gateway.drain({ follow: true, signal: stop.signal });
    await vi.advanceTimersByTimeAsync(2_000 + 4_000);
    expect([shop.warnings().map(({ code }) => code), sent.length]).toEqual([['drain_failed', 'drain_failed'], 1]);
    await vi.advanceTimersByTimeAsync(8_000 + 16_000);
    expect(sent.length).toBe(3);
    await vi.advanceTimersByTimeAsync(32_000);
    expect(await shop.stateOf('payout-1')).toBe('created');
    stop.abort();
    expect(await following).toEqual({ ...NONE, created: 1, postponed: 3 });
  });

  it('goes on with the others while one hangs', { tags: 'long' }, async () => {
    const hanging = Promise.withResolvers<void>();
    const sent: string[] = [];
    const takes = accept(sent);
    const { gateway, plan } = openShop((url, init) => {
      if (!JSON.parse(Buffer.from(init.body ?? []).toString()).reference.endsWith('hangs')) return takes(url, init);
      return hanging.promise.then(() => taken(init));
    });
    await plan('hangs');
    const stop = new AbortController();
    const following = gateway.drain({ follow: true, concurrency: 2, signal: stop.signal });
    for (const reference of ['payout-1', 'payout-2', 'payout-3']) {
      await plan(reference);
      await expect.poll(() => sent).toContain(reference);
    }
    stop.abort();
    hanging.resolve();
    expect(await following).toEqual({ ...NONE, created: 4 });
  });

  it('sleeps 15 minutes at most, however long the gateway asks it to', async () => {
    vi.useFakeTimers();
    const { fetch, sent } = wire(json('{}', 429, { 'retry-after': '2592000' }), taken);
    const { gateway, plan, clock } = openShop(fetch);
    await plan('payout-1');
    const stop = new AbortController();
    const following = gateway.drain({ follow: true, signal: stop.signal });
    await vi.advanceTimersByTimeAsync(10);
    clock.now += MINUTE;
    await vi.advanceTimersByTimeAsync(898_000);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(sent).toHaveLength(2);
    stop.abort();
    expect(await following).toEqual({ ...NONE, created: 1, postponed: 1 });
  });

  it('counts what was sent before the journal failed to its limit', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { journal, open, plan } = openShop(accept());
    for (const reference of ['payout-1', 'payout-2', 'payout-3', 'payout-4']) await plan(reference);
    let claims = 0;
    const gateway = open({
      ...journal,
      claim: async (query, limit, leaseMs) => {
        claims += 1;
        if (claims === 2) throw new Error('the database is gone');
        return journal.claim(query, limit, leaseMs);
      },
    });
    const following = gateway.drain({ follow: true, concurrency: 1, limit: 2 });
    expect(await whileTimePasses(following, 10)).toEqual({ ...NONE, created: 2 });
  });

  it('ends after so many creates, and without a pause, if it is told to', async () => {
    // The clock stands still: whoever waits for it waits for ever.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { gateway, plan } = openShop(accept());
    for (const reference of ['payout-1', 'payout-2', 'payout-3']) await plan(reference);
    expect(await gateway.drain({ follow: true, limit: 2 })).toEqual({ ...NONE, created: 2 });
  });
});
