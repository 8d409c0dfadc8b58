import { GatewayClient, memoryJournal } from 'payment-gateway-sdk';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { abortedByClaim } from '../support/claims.ts';
import { errorOf, KEYS, PAYOUT } from '../support/fixtures.ts';
import {
  accept,
  MINUTE,
  NONE,
  notReached,
  openShop,
  PLANNED,
  referencesOf,
  taken,
  tx,
} from '../support/planned-shop.ts';
import { type Answer, json, networkError, wire } from '../support/wire.ts';

afterEach(() => void vi.useRealTimers());

describe('a drain', () => {
  it('begins creates in the order of planning, over several batches', async () => {
    const sent: string[] = [];
    const { gateway, plan, clock } = openShop(accept(sent));
    const references = Array.from({ length: 30 }, (_, index) => `payout-${(index * 7) % 30}`);
    for (const reference of references) {
      await plan(reference);
      clock.now += 1;
    }
    expect(await gateway.drain({ concurrency: 4, limit: 20 })).toEqual({ ...NONE, created: 20 });
    expect(await gateway.drain({ concurrency: 4 })).toEqual({ ...NONE, created: 10 });
    expect(sent).toEqual(references);
  });

  it('is not held up by a create that hangs', async () => {
    const hanging = Promise.withResolvers<void>();
    const sent: string[] = [];
    const takes = accept(sent);
    const { gateway, plan, clock } = openShop((url, init) => {
      if (!JSON.parse(Buffer.from(init.body ?? []).toString()).reference.endsWith('-0')) return takes(url, init);
      return hanging.promise.then(() => taken(init));
    });
    for (let index = 0; index < 20; index++) {
      await plan(`payout-${index}`);
      clock.now += 1;
    }
    const draining = gateway.drain({ concurrency: 2 });
    await vi.waitFor(() => expect(sent.length).toBe(19));
    hanging.resolve();
    expect(await draining).toEqual({ ...NONE, created: 20 });
  });

  it('claims no more than it can begin at once, so that others begin the rest', async () => {
    const { gateway, journal, open, plan, clock } = openShop(accept());
    for (let index = 0; index < 12; index++) {
      await plan(`payout-${index}`);
      clock.now += 1;
    }
    let working = 0;
    const free: number[] = [];
    const counting = open({
      ...journal,
      claim: async (query, limit, leaseMs) => {
        free.push(limit + working);
        const claimed = await journal.claim(query, limit, leaseMs);
        working += claimed.rows.length;
        return claimed;
      },
      replace: async (row, revision) => {
        if (row.state === 'created') working -= 1;
        return journal.replace(row, revision);
      },
    });
    expect(await counting.drain({ concurrency: 3 })).toEqual({ ...NONE, created: 12 });
    expect(Math.max(...free)).toBe(3);
    expect(await gateway.drain()).toEqual(NONE);
  });

  it('claims one at a time while another one hangs in its other lane', { tags: 'long' }, async () => {
    const hanging = Promise.withResolvers<void>();
    const takes = accept();
    const { journal, open, plan, clock } = openShop(takes);
    for (let index = 0; index < 6; index++) {
      await plan(`payout-${index}`);
      clock.now += 1;
    }
    const limits: number[] = [];
    const gateway = new GatewayClient({
      ...KEYS,
      fetch: (url, init) => {
        if (!JSON.parse(Buffer.from(init.body ?? []).toString()).reference.endsWith('-0')) return takes(url, init);
        return hanging.promise.then(() => taken(init));
      },
      journal: {
        ...journal,
        claim: (query, limit, leaseMs) => {
          limits.push(limit);
          return journal.claim(query, limit, leaseMs);
        },
      },
    });
    const draining = gateway.drain({ concurrency: 2, limit: 5 });
    await vi.waitFor(() => expect(limits).toHaveLength(4));
    hanging.resolve();
    expect(await draining).toEqual({ ...NONE, created: 5 });
    expect(limits).toEqual([2, 1, 1, 1]);
    expect(await open(journal).drain()).toEqual({ ...NONE, created: 1 });
  });

  it('begins nothing more once the journal has failed for one', async () => {
    const sent: string[] = [];
    const { journal, open, plan } = openShop(accept(sent));
    for (let index = 0; index < 20; index++) await plan(`payout-${index}`);
    let failures = 1;
    const failing = open({
      ...journal,
      replace: async (...asked) => {
        if (failures-- > 0) throw new Error('the database is gone');
        return journal.replace(...asked);
      },
    });
    await expect(failing.drain({ concurrency: 2 })).rejects.toThrow('Nothing was sent');
    expect(sent.length).toBeLessThan(5);
  });

  it('does not put off what was planned anew while it could not be sent', async () => {
    const { journal, open, clock, gateway, rowOf } = openShop(accept());
    const request = { ...PLANNED, paymentType: 'DEPOSIT', paymentMethod: 'ONRAMP_PIX' } as const;
    await journal.plan(tx, request, { terminal: 'onramp' });
    const slow = open({
      ...journal,
      claim: async (...asked) => {
        const claimed = await journal.claim(...asked);
        await gateway.settle('payout-1', 'not_created');
        await journal.plan(tx, { ...PLANNED, amount: '76.00' });
        return claimed;
      },
    });
    expect(await slow.drain({ limit: 1 })).toEqual({ ...NONE, postponed: 1 });
    expect((await rowOf('payout-1'))?.dueAt).toBe(clock.now);
    expect(await gateway.drain()).toEqual({ ...NONE, created: 1 });
  });

  it('frees what the gateway refuses, says so, and can be planned again', async () => {
    const { fetch, sent } = wire(json('{"error":"no such account"}', 422), taken);
    const { gateway, journal, plan, stateOf, changes, warnings } = openShop(fetch);
    await plan('payout-1');
    expect(await gateway.drain()).toEqual({ ...NONE, refused: 1 });
    expect([await stateOf('payout-1'), changes()]).toEqual(['freed', ['begun', 'freed']]);
    expect(warnings()).toEqual([
      expect.objectContaining({
        code: 'plan_refused',
        reference: 'payout-1',
        message: expect.stringContaining('The gateway answered 422'),
      }),
    ]);
    expect([await gateway.drain(), sent.length]).toEqual([NONE, 1]);
    await journal.plan(tx, { ...PLANNED, customer: { lastName: 'Müller' } });
    expect(await gateway.drain()).toEqual({ ...NONE, created: 1 });
    expect([await stateOf('payout-1'), sent.length]).toEqual(['created', 2]);
  });

  it.each<[string, Answer]>([
    ['cannot be reached', notReached],
    ['does not know the key', json('{}', 401)],
    ['asks for a pause', json('{}', 429, { 'retry-after': '7' })],
    ['is somewhere else', json('<html>', 404)],
    ['takes no POST there', json('<html>', 405)],
  ])('stops where the gateway %s, and what is planned stays so, in its order', async (_, answer) => {
    const { fetch, sent } = wire(answer, taken);
    const { gateway, plan, clock, stateOf, changes } = openShop(fetch);
    for (const reference of ['payout-1', 'payout-2', 'payout-3']) {
      await plan(reference);
      clock.now += 1;
    }
    expect(await gateway.drain({ concurrency: 1 })).toEqual({ ...NONE, postponed: 1 });
    expect([sent.length, await stateOf('payout-1'), changes()]).toEqual([1, 'planned', ['begun', 'planned']]);
    clock.now += MINUTE;
    expect(await gateway.drain({ concurrency: 1 })).toEqual({ ...NONE, created: 3 });
    expect(referencesOf(sent).sort()).toEqual(['payout-1', 'payout-1', 'payout-2', 'payout-3']);
    // Whoever could not even be reached keeps his place.
    if (answer instanceof Error) expect(referencesOf(sent).slice(1)).toEqual(['payout-1', 'payout-2', 'payout-3']);
  });

  it('goes on to the others where the gateway forbids one, which is tried again ever later', {
    tags: 'long',
  }, async () => {
    const { fetch, sent } = wire(json('{}', 403), taken, json('{}', 403));
    const { gateway, plan, clock } = openShop(fetch);
    await plan('payout-1');
    clock.now += 1;
    await plan('payout-2');
    expect(await gateway.drain({ concurrency: 1 })).toEqual({ ...NONE, created: 1, postponed: 1 });
    const tried: number[] = [];
    for (let second = 0; second < 4_000; second++) {
      clock.now += 1_000;
      const before = sent.length;
      await gateway.drain();
      if (sent.length > before) tried.push(second + 1);
    }
    expect(tried.slice(0, 4)).toEqual([15, 45, 105, 225]);
    expect(Math.max(...tried.map((at, index) => at - (tried[index - 1] ?? 0)))).toBeLessThanOrEqual(900);
    expect(sent.length).toBe(2 + tried.length);
  });

  it.each<[string, Answer]>([
    ['answers 503', json('{}', 503, { 'retry-after': '120' })],
    ['resets every connection', networkError('ECONNRESET', 'read')],
    ['answers what nobody can read', json('{"result":{}}', 201)],
  ])('stops after a few where the gateway %s, and keeps the rest planned', async (_, answer) => {
    const { fetch, sent } = wire(answer);
    const { gateway, plan, journal } = openShop(fetch);
    for (let index = 0; index < 50; index++) await plan(`payout-${index}`);
    const { inDoubt } = await gateway.drain({ concurrency: 3 });
    expect([inDoubt, sent.length]).toEqual([3, 3]);
    const { rows } = await journal.list({ states: ['planned'] });
    expect(rows.filter(({ body, leasedUntil }) => body && !leasedUntil)).toHaveLength(47);
  });

  it('puts one more create in doubt in each run of an outage, whoever runs it, and sends several again once one is answered', {
    tags: 'long',
  }, async () => {
    let isAway = true;
    let [atOnce, most] = [0, 0];
    const { journal, open, plan, clock } = openShop(async (_, init) => {
      if (isAway) return json('{}', 503);
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise(setImmediate);
      atOnce -= 1;
      return taken(init);
    });
    for (let index = 0; index < 60; index++) await plan(`payout-${index}`);
    const inDoubt: number[] = [];
    const drained = async () => {
      // A process of its own each minute.
      clock.now += MINUTE;
      const counts = await open(journal).drain({ concurrency: 3 });
      inDoubt.push(counts.inDoubt);
      return counts;
    };
    for (let minute = 0; minute < 5; minute++) await drained();
    expect(inDoubt).toEqual([3, 1, 1, 1, 1]);
    // They are old by then, and say nothing of the gateway any more.
    clock.now += 20 * MINUTE;
    await drained();
    expect(inDoubt.at(-1)).toBe(3);
    isAway = false;
    expect(await drained()).toEqual({ ...NONE, created: 60 - 3 - 4 - 3 });
    expect(most).toBe(3);
  });

  it('needs no person where the gateway is busy', async () => {
    const { gateway, plan, warnings } = openShop(wire(json('{}', 429)).fetch);
    await plan('payout-1');
    expect(await gateway.drain()).toEqual({ ...NONE, postponed: 1 });
    expect(warnings()).toEqual([]);
  });

  it('sends several at once beside creates that are under way, which are no doubts yet', { tags: 'long' }, async () => {
    const answer = Promise.withResolvers<void>();
    const { fetch, sent } = wire(async init => {
      await answer.promise;
      return taken(init);
    });
    const { gateway, open, journal, plan } = openShop(fetch);
    const creating = ['a', 'b'].map(reference => open(journal).createWithdrawal({ ...PAYOUT, reference }));
    await vi.waitFor(() => expect(sent).toHaveLength(2));
    for (const reference of ['payout-1', 'payout-2']) await plan(reference);
    const draining = gateway.drain({ concurrency: 2 });
    await vi.waitFor(() => expect(sent).toHaveLength(4));
    answer.resolve();
    await Promise.all(creating);
    expect(await draining).toEqual({ ...NONE, created: 2 });
  });

  it('sends one create alone after an outage until one is answered, whatever becomes of it', async () => {
    const answers = [json('{}', 503), json('{}', 503), json('{}', 422)] as const;
    const { fetch, sent } = wire(...answers, taken);
    const { gateway, plan, clock } = openShop(fetch);
    for (let index = 0; index < 2; index++) await plan(`payout-${index}`);
    expect(await gateway.drain({ concurrency: 2 })).toEqual({ ...NONE, inDoubt: 2 });
    clock.now += MINUTE;
    for (let index = 2; index < 9; index++) await plan(`payout-${index}`);
    const draining = gateway.drain({ concurrency: 2, limit: 4 });
    expect(await draining).toEqual({ ...NONE, refused: 1, created: 3 });
    expect(sent).toHaveLength(6);
    // There is nothing to send: it waits for nothing.
    expect(await gateway.drain({ concurrency: 2 })).toEqual({ ...NONE, created: 3 });
    clock.now += MINUTE;
    expect(await gateway.drain({ concurrency: 2 })).toEqual(NONE);
  });

  it.each([401, 402, 403, 406, 415, 431, 451])(
    'keeps planned what %i refuses, which is not about the request, and tells a person, and each run that nothing was sent',
    async status => {
      const { fetch } = wire(json('<html>', status), taken);
      const { gateway, plan, clock, stateOf, warnings } = openShop(fetch);
      await plan('payout-1');
      expect(await gateway.drain()).toEqual({ ...NONE, postponed: 1 });
      expect(await stateOf('payout-1')).toBe('planned');
      expect(warnings()).toMatchObject([{ code: 'plan_not_sent', reference: 'payout-1' }]);
      expect(warnings()[0]?.message).toContain(`The gateway answered ${status}`);
      // It is not due yet: a run that finds nothing else must not look as if all were sent.
      expect(await gateway.drain()).toEqual({ ...NONE, postponed: 1 });
      expect(warnings()).toHaveLength(1);
      clock.now += MINUTE;
      expect(await gateway.drain()).toEqual({ ...NONE, created: 1 });
    },
  );

  it.each([400, 413, 422])('frees what %i refuses', async status => {
    const { fetch } = wire(json('{}', status));
    const { gateway, plan, stateOf } = openShop(fetch);
    await plan('payout-1');
    expect([await gateway.drain(), await stateOf('payout-1')]).toEqual([{ ...NONE, refused: 1 }, 'freed']);
  });

  it('stops where a refusal of one asks for a pause', async () => {
    const { fetch, sent } = wire(json('{}', 422, { 'retry-after': '60' }));
    const { gateway, plan } = openShop(fetch);
    for (const reference of ['payout-1', 'payout-2']) await plan(reference);
    expect([await gateway.drain({ concurrency: 1 }), sent.length]).toEqual([{ ...NONE, refused: 1 }, 1]);
  });

  it('gives back what the journal answers too late to be sent', async () => {
    vi.useFakeTimers();
    const sent: string[] = [];
    const { journal, open, plan, gateway, rowOf } = openShop(accept(sent));
    await plan('payout-1');
    const answered = Promise.withResolvers<void>();
    const slow = open({
      ...journal,
      claim: async (...asked) => {
        const claimed = await journal.claim(...asked);
        await answered.promise;
        return claimed;
      },
    });
    const failing = errorOf(slow.drain());
    await vi.advanceTimersByTimeAsync(5_001);
    expect((await failing) as Error).toMatchObject({
      message: expect.stringContaining('did not answer within 5000 ms'),
    });
    expect((await rowOf('payout-1'))?.leasedUntil).toBeTypeOf('number');
    answered.resolve();
    await vi.advanceTimersByTimeAsync(1);
    expect((await rowOf('payout-1'))?.leasedUntil).toBeUndefined();
    expect([await gateway.drain(), sent]).toEqual([{ ...NONE, created: 1 }, ['payout-1']]);
  });

  it('leaves a row alone that somebody has changed in the database', async () => {
    const { gateway, journal, plan, stateOf, warnings } = openShop(accept());
    await plan('payout-1');
    const { row } = await journal.read({ scope: 'eu', reference: 'payout-1' });
    await journal.replace({ ...(row as NonNullable<typeof row>), body: '{' }, 1);
    await plan('payout-2');
    expect(await gateway.drain({ concurrency: 1 })).toEqual({ ...NONE, created: 1, postponed: 1 });
    expect(warnings()).toMatchObject([{ code: 'plan_not_sent', reference: 'payout-1' }]);
    expect(await stateOf('payout-1')).toBe('planned');
  });

  it('leaves a create whose answer is lost in doubt, and never sends it again', async () => {
    const { fetch, sent } = wire(networkError('ECONNRESET', 'read'));
    const { gateway, plan, stateOf, rowOf } = openShop(fetch);
    await plan('payout-1');
    expect(await gateway.drain()).toEqual({ ...NONE, inDoubt: 1 });
    expect([await stateOf('payout-1'), (await rowOf('payout-1'))?.body]).toEqual(['begun', undefined]);
    expect([await gateway.drain(), sent.length]).toEqual([NONE, 1]);
    expect((await gateway.inDoubt()).map(({ reference }) => reference)).toEqual(['payout-1']);
    expect(await errorOf(plan('payout-1'))).toMatchObject({ name: 'PaymentInDoubtError', reference: 'payout-1' });
  });

  it.each<[string, Answer, number, object]>([
    ['stops, where nothing can be sent', notReached, 1, { ...NONE, inDoubt: 1 }],
    ['goes on, where the gateway forbids one', json('{}', 403), 2, { ...NONE, inDoubt: 1, created: 1 }],
  ])('counts as in doubt what the journal does not take back in time, and %s', async (_, answer, count, drained) => {
    vi.useFakeTimers();
    const { fetch, sent } = wire(answer, taken);
    const { journal, gateway, open, plan, stateOf, clock } = openShop(fetch);
    const answered = Promise.withResolvers<void>();
    const slow = open({
      ...journal,
      replace: async (row, revision) => {
        if (row.state === 'planned') await answered.promise;
        return journal.replace(row, revision);
      },
    });
    await plan('payout-1');
    await plan('payout-2');
    const draining = slow.drain({ concurrency: 1 });
    await vi.advanceTimersByTimeAsync(5_001);
    expect([await draining, sent.length, await stateOf('payout-1')]).toEqual([drained, count, 'begun']);
    // The journal is told in the background.
    answered.resolve();
    await vi.advanceTimersByTimeAsync(1);
    expect(await stateOf('payout-1')).toBe('planned');
    clock.now += MINUTE;
    await gateway.drain();
    expect(await stateOf('payout-1')).toBe('created');
  });

  it('waits for the journal also where the create has used up its time', async () => {
    vi.useFakeTimers();
    const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));
    const { journal, open, plan, stateOf } = openShop(async () => {
      await pause(29_990);
      throw notReached;
    });
    const slow = open({
      ...journal,
      replace: async (row, revision) => {
        if (row.state === 'planned') await pause(1_000);
        return journal.replace(row, revision);
      },
    });
    await plan('payout-1');
    const draining = slow.drain();
    await vi.advanceTimersByTimeAsync(31_000);
    expect([await draining, await stateOf('payout-1')]).toEqual([{ ...NONE, postponed: 1 }, 'planned']);
  });

  it('finishes what has begun when it is stopped, and begins nothing more', async () => {
    const answer = Promise.withResolvers<void>();
    const { fetch, sent } = wire(init => answer.promise.then(() => taken(init)));
    const { gateway, plan, stateOf, rowOf } = openShop(fetch);
    for (const reference of ['payout-1', 'payout-2', 'payout-3']) await plan(reference);
    const stop = new AbortController();
    const draining = gateway.drain({ concurrency: 2, signal: stop.signal });
    await vi.waitFor(() => expect(sent.length).toBe(2));
    stop.abort();
    answer.resolve();
    expect(await draining).toEqual({ ...NONE, created: 2 });
    expect([sent.length, await stateOf('payout-3'), (await rowOf('payout-3'))?.leasedUntil]).toEqual([
      2,
      'planned',
      undefined,
    ]);
  });

  it('sends nothing that was withdrawn, or planned anew, after it was claimed', async () => {
    const sent: string[] = [];
    const shop = openShop(accept(sent));
    const { journal, open, plan, stateOf } = shop;
    for (const meanwhile of [
      () => shop.gateway.settle('payout-1', 'not_created'),
      async () => {
        await shop.gateway.settle('payout-1', 'not_created');
        await journal.plan(tx, { ...PLANNED, amount: '76.00' });
      },
    ]) {
      await plan('payout-1');
      const slow = open({
        ...journal,
        claim: async (...asked) => {
          const claimed = await journal.claim(...asked);
          await meanwhile();
          return claimed;
        },
      });
      expect(await slow.drain({ limit: 1 })).toEqual(NONE);
      expect(sent).toEqual([]);
    }
    expect(await stateOf('payout-1')).toBe('planned');
    expect(await shop.gateway.drain()).toEqual({ ...NONE, created: 1 });
  });

  it('leaves to another client what this one cannot send, and says why', async () => {
    const sent: string[] = [];
    const { gateway, journal, clock, stateOf, warnings } = openShop(accept(sent));
    const request = { ...PLANNED, paymentType: 'DEPOSIT', paymentMethod: 'ONRAMP_PIX' } as const;
    await journal.plan(tx, request, { terminal: 'onramp' });
    expect(await gateway.drain()).toEqual({ ...NONE, postponed: 1 });
    expect(warnings()).toEqual([expect.objectContaining({ code: 'plan_not_sent', reference: 'payout-1' })]);
    expect([await gateway.drain(), await stateOf('payout-1'), sent]).toEqual([
      { ...NONE, postponed: 1 },
      'planned',
      [],
    ]);
    clock.now += MINUTE;
    const onramp = new GatewayClient({ ...KEYS, terminal: 'onramp', fetch: accept(sent), journal });
    expect([await onramp.drain(), sent]).toEqual([{ ...NONE, created: 1 }, ['payout-1']]);
  });

  it('rejects when the journal fails, and loses nothing', async () => {
    const sent: string[] = [];
    const { journal, open, plan, gateway } = openShop(accept(sent));
    await plan('payout-1');
    const broken = open({
      ...journal,
      replace: async () => {
        throw new Error('the database is gone');
      },
    });
    await expect(broken.drain()).rejects.toThrow('Nothing was sent');
    expect(sent).toEqual([]);
    expect((await gateway.find('payout-1'))?.state).toBe('planned');
  });

  it('needs a journal, and refuses an option that it does not know', async () => {
    await expect(new GatewayClient(KEYS).drain()).rejects.toThrow('drain needs a client with a journal');
    const withoutScope = new GatewayClient({ ...KEYS, journal: memoryJournal() });
    await expect(withoutScope.drain()).rejects.toThrow('drain needs a journal with the scope that its plans have');
    const { gateway } = openShop(accept());
    await expect(gateway.drain({ limits: 3 } as never)).rejects.toThrow('options: unknown option "limits"');
    await expect(gateway.drain({ concurrency: 0 })).rejects.toThrow('options.concurrency');
    await expect(gateway.drain({ follow: 'yes' as never })).rejects.toThrow('options.follow: must be true or false');
  });
});

describe('what a drain claims', () => {
  it('and does not begin, because it is to stop, is not sent, and given back at once', async () => {
    const { fetch, sent } = wire(taken);
    const { journal, plan } = openShop(fetch);
    // The same object: what is spied on is asked.
    const gateway = new GatewayClient({ ...KEYS, fetch, journal });
    for (const reference of ['payout-1', 'payout-2']) await plan(reference);
    expect(await gateway.drain({ signal: abortedByClaim(journal) })).toEqual(NONE);
    expect(sent).toEqual([]);
    expect(await gateway.drain()).toHaveProperty('created', 2);
  });
});
