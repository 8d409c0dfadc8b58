// Planned payouts: upkeep sends each at most once, and stops while the gateway is unreachable.
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Fetch } from '../../src/http/own-fetch.ts';
import type { Store } from '../../src/store/contract.ts';
import { pauseSending } from '../../src/store/outage.ts';
import type { CreateRow } from '../../src/store/rules/create-row.ts';
import { errorOf, PAYOUT } from '../support/fixtures.ts';
import { accept, MINUTE, NONE_SENT as NONE, notReached, openUpkeptShop, taken } from '../support/upkept-shop.ts';
import { type Answer, json, networkError, type Sent, wire } from '../support/wire.ts';

afterEach(() => void vi.useRealTimers());

const openShop = (fetch: Fetch) => openUpkeptShop({ fetch });

/** A gateway that plays the answers to creates in order, the last one permanently. `lookup` answers the lookups. */
function gatewayOf(...answers: [Answer, ...Answer[]]) {
  const gateway = { lookups: 0, lookup: json('{}', 404) as Answer, sent: [] as Sent[] };
  const creates = wire(...answers);
  gateway.sent = creates.sent;
  const fetch: Fetch = async (url, init) => {
    if (init.method === 'POST') return creates.fetch(url, init);
    gateway.lookups += 1;
    if (gateway.lookup instanceof Error) throw gateway.lookup;
    return (gateway.lookup as Response).clone();
  };
  return Object.assign(gateway, { fetch });
}

const referencesOf = (sent: readonly Sent[]) =>
  sent.flatMap(({ method, body }) => (method === 'POST' ? [JSON.parse(body).reference] : []));

/** A signal that is aborted as soon as the store has leased rows, for the first time from now on. */
function abortedByLease(store: Store): AbortSignal {
  const controller = new AbortController();
  const { due } = store;
  store.due = async (...query) => {
    const leased = await due(...query);
    store.due = due;
    controller.abort();
    return leased;
  };
  return controller.signal;
}

describe('payouts', () => {
  it('are begun in the order of planning, over several batches', async () => {
    const sent: string[] = [];
    const { send, plans } = openShop(accept(sent));
    const references = Array.from({ length: 30 }, (_, index) => `payout-${(index * 7) % 30}`);
    await plans(...references);
    expect(await send({ concurrency: 4, limit: 20 })).toEqual({ ...NONE, created: 20 });
    expect(await send({ concurrency: 4 })).toEqual({ ...NONE, created: 10 });
    expect(sent).toEqual(references);
    expect(await send()).toEqual(NONE);
  });

  it('are sent one at a time until the gateway accepts one, then several at once', async () => {
    let [running, most] = [0, 0];
    const peaks: number[] = [];
    const answers = [json('{}', 422), json('{}', 403)];
    const { send, plan } = openShop(async (_, init) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      peaks.push(most);
      return answers.shift() ?? taken(init);
    });
    for (let index = 0; index < 12; index++) await plan(`payout-${index}`);
    expect(await send({ concurrency: 3 })).toEqual({ created: 10, refused: 1, postponed: 1, inDoubt: 0 });
    expect([peaks[0], peaks[1], peaks[2], most]).toEqual([1, 1, 1, 3]);
  });

  it('whose answer is lost stay in doubt, and are never sent again', async () => {
    const { fetch, sent } = gatewayOf(networkError('ECONNRESET', 'read'));
    const { send, plan, gateway, stateOf, rowOf, sendAfter } = openShop(fetch);
    await plan('payout-1');
    expect(await send()).toEqual({ ...NONE, inDoubt: 1 });
    expect([await stateOf('payout-1'), (await rowOf('payout-1'))?.body]).toEqual(['begun', undefined]);
    expect([await sendAfter(60 * MINUTE), sent.length]).toEqual([NONE, 1]);
    expect((await gateway.doubts()).map(({ reference }) => reference)).toEqual(['payout-1']);
    expect(await errorOf(plan('payout-1'))).toMatchObject({ name: 'PaymentInDoubtError', reference: 'payout-1' });
  });

  it.each([
    ['withdrawn', false],
    ['withdrawn, and planned again', true],
  ])('that were %s after their lease are not sent', async (_, isPlannedAgain) => {
    const sent: string[] = [];
    const { open, gateway, store, plan, send } = openShop(accept(sent));
    const slow = open({
      due: async (...asked) => {
        const leased = await store.due(...asked);
        if (leased.rows.length === 0) return leased;
        await gateway.settle('payout-1', 'not_created');
        if (isPlannedAgain) await gateway.payOut({}, { ...PAYOUT, amount: '76.00' });
        return leased;
      },
    });
    await plan('payout-1');
    expect([await send({ limit: 1 }, slow), sent]).toEqual([NONE, []]);
  });

  it('that the store fails to begin are not lost', { tags: 'long' }, async () => {
    const sent: string[] = [];
    const { open, send, plan, stateOf } = openShop(accept(sent));
    await plan('payout-1');
    const broken = open({ write: () => Promise.reject(new Error('the database is gone')) });
    await expect(send({}, broken)).rejects.toThrow('Nothing was sent');
    expect([sent, await stateOf('payout-1')]).toEqual([[], 'planned']);
  });

  it('are finished if they have begun when upkeep is stopped, and no more are begun', async () => {
    const answer = Promise.withResolvers<void>();
    const { fetch, sent } = gatewayOf(taken, init => answer.promise.then(() => taken(init)));
    const { send, stateOf, rowOf, plans } = openShop(fetch);
    await plans('payout-0', 'payout-1', 'payout-2', 'payout-3');
    const stop = new AbortController();
    const sending = send({ concurrency: 2, signal: stop.signal });
    await vi.waitFor(() => expect(sent.length).toBe(3), 60_000);
    stop.abort();
    answer.resolve();
    expect(await sending).toEqual({ ...NONE, created: 3 });
    const left = await rowOf('payout-3');
    expect([sent.length, await stateOf('payout-3'), left?.leasedUntil]).toEqual([3, 'planned', undefined]);
  });

  it('are given back if upkeep is stopped right after their lease', async () => {
    const { fetch, sent } = gatewayOf(taken);
    const { store, send, plans } = openShop(fetch);
    await plans('payout-1', 'payout-2');
    expect([await send({ signal: abortedByLease(store) }), sent]).toEqual([NONE, []]);
    expect(await send()).toEqual({ ...NONE, created: 2 });
  });

  it('are sent once their lease has ended if the store leased them too late', async () => {
    vi.useFakeTimers();
    const sent: string[] = [];
    const { open, store, send, plan, clock } = openShop(accept(sent));
    await plan('payout-1');
    const answered = Promise.withResolvers<void>();
    const slow = open({
      due: async (...asked) => {
        const leased = await store.due(...asked);
        await answered.promise;
        return leased;
      },
    });
    const failing = errorOf(send({}, slow));
    await vi.advanceTimersByTimeAsync(5_001);
    expect(String(await failing)).toContain('did not answer within 5000 ms');
    answered.resolve();
    await vi.advanceTimersByTimeAsync(1);
    expect(await send()).toEqual(NONE);
    clock.now += 120_001;
    expect([await send(), sent]).toEqual([{ ...NONE, created: 1 }, ['payout-1']]);
  });
});

describe('a payout that the gateway refuses', () => {
  it.each([400, 413, 422])('with %i is freed and goes to review at once, and can be planned again', async status => {
    const { fetch, sent } = gatewayOf(json('{"error":"no such account"}', status), taken);
    const { send, plan, stateOf, changes, reviewed, gateway } = openShop(fetch);
    await plan('payout-1');
    expect(await send()).toEqual({ ...NONE, refused: 1 });
    expect([await stateOf('payout-1'), reviewed, changes().at(-1)]).toEqual(['freed', ['payout-1'], 'freed']);
    expect([await send(), sent.length, reviewed.length]).toEqual([NONE, 1, 1]);
    await gateway.payOut({}, { ...PAYOUT, customer: { lastName: 'Müller' } });
    expect([await send(), await stateOf('payout-1')]).toEqual([{ ...NONE, created: 1 }, 'created']);
  });

  it.each([401, 402, 403, 404, 405, 406, 415, 429, 431, 451])(
    'three times with %i, which is not about the request, goes to review then',
    async status => {
      const { fetch, sent } = gatewayOf(json('<html>', status));
      const { send, plan, clock, stateOf, warnings, reviewed, sendAfter } = openShop(fetch);
      await plan('payout-1');
      for (const answers of [1, 2]) {
        expect([await send(), sent.length]).toEqual([{ ...NONE, postponed: 1 }, answers]);
        expect([await send(), await stateOf('payout-1'), reviewed]).toEqual([NONE, 'planned', []]);
        clock.now += MINUTE;
      }
      // A busy gateway needs no operator.
      const codes = status === 429 ? [] : ['payout_not_sent', 'payout_not_sent'];
      expect(warnings().map(({ code }) => code)).toEqual(codes);
      if (status !== 429) expect(warnings()[0]?.message).toContain(`The gateway answered ${status}`);
      expect(await send()).toEqual({ ...NONE, refused: 1 });
      expect([await stateOf('payout-1'), reviewed]).toEqual(['freed', ['payout-1']]);
      expect([await sendAfter(60 * MINUTE), sent.length, reviewed.length]).toEqual([NONE, 3, 1]);
    },
  );

  it('is reviewed later if the review fails, and is never sent again', async () => {
    const { fetch, sent } = gatewayOf(json('{}', 422));
    const { send, plan, handlerOf, warnings, reviewed, stateOf, sendAfter } = openShop(fetch);
    await plan('payout-1');
    const handler = handlerOf({ reviewRefused: () => Promise.reject(new Error('secret of the shop')) });
    expect(await send({ handler })).toEqual({ ...NONE, refused: 1 });
    expect(warnings()).toMatchObject([{ code: 'upkeep_failed', reference: 'payout-1' }]);
    expect(warnings()[0]?.message).not.toContain('secret');
    expect([await send(), reviewed]).toEqual([NONE, []]);
    expect([await sendAfter(MINUTE), reviewed, await stateOf('payout-1')]).toEqual([NONE, ['payout-1'], 'freed']);
    expect([await sendAfter(60 * MINUTE), reviewed.length, sent.length]).toEqual([NONE, 1, 1]);
  });

  it('is not reviewed any more if the merchant plans it again during the review', async () => {
    const { fetch, sent } = gatewayOf(json('{}', 422), taken);
    const { send, plan, handlerOf, stateOf } = openShop(fetch);
    await plan('payout-1');
    const handler = handlerOf({ reviewRefused: () => plan('payout-1') });
    expect(await send({ handler, limit: 1 })).toEqual({ ...NONE, refused: 1 });
    expect(await stateOf('payout-1')).toBe('planned');
    expect([await send(), sent.length]).toEqual([{ ...NONE, created: 1 }, 2]);
  });

  it('is reviewed again if it is planned and refused again during the review', async () => {
    const { send, plan, handlerOf, reviewed, sendAfter } = openShop(gatewayOf(json('{}', 422)).fetch);
    await plan('payout-1');
    const busy = handlerOf({ reviewRefused: () => Promise.reject(new Error('busy')) });
    const reviewRefused = () => plan('payout-1').then(() => send({ handler: busy }));
    expect(await send({ handler: handlerOf({ reviewRefused }), limit: 1 })).toEqual({ ...NONE, refused: 1 });
    expect([await sendAfter(MINUTE), reviewed]).toEqual([NONE, ['payout-1']]);
  });

  it('with 403 holds nobody up, unlike a refusal of the client', async () => {
    const { fetch, sent } = gatewayOf(json('{}', 403), taken);
    const { send, sendAfter, plans } = openShop(fetch);
    await plans('payout-1', 'payout-2');
    expect(await send()).toEqual({ ...NONE, created: 1, postponed: 1 });
    expect([await sendAfter(MINUTE), referencesOf(sent)]).toEqual([
      { ...NONE, created: 1 },
      ['payout-1', 'payout-2', 'payout-1'],
    ]);
  });

  it.each<[string, Answer]>([
    ['cannot be reached', notReached],
    ['does not know the key', json('{}', 401)],
    ['is busy', json('{}', 429)],
    ['is somewhere else', json('<html>', 404)],
    ['takes no POST there', json('<html>', 405)],
  ])('because the gateway %s ends the run, and the others stay planned', async (_, answer) => {
    const { fetch, sent } = gatewayOf(answer, taken);
    const { send, stateOf, sendAfter, plans } = openShop(fetch);
    await plans('payout-1', 'payout-2', 'payout-3');
    expect(await send()).toEqual({ ...NONE, postponed: 1 });
    expect([sent.length, await stateOf('payout-1')]).toEqual([1, 'planned']);
    expect(await sendAfter(MINUTE)).toEqual({ ...NONE, created: 3 });
    // Without an answer a payout keeps its place.
    if (answer instanceof Error) expect(referencesOf(sent).slice(1)).toEqual(['payout-1', 'payout-2', 'payout-3']);
  });

  it('by this client, which cannot read it, is left to another one', async () => {
    const { fetch } = gatewayOf(taken);
    const { send, plan, store, stateOf, warnings, sendAfter } = openShop(fetch);
    await plan('payout-1');
    const { row } = await store.read({ kind: 'create', id: 'payout-1' });
    const written = row?.data as CreateRow;
    await store.write({ ...row, data: { ...written, body: '{' } } as never);
    await plan('payout-2');
    expect(await send()).toEqual({ ...NONE, created: 1, postponed: 1 });
    expect(warnings()).toMatchObject([{ code: 'payout_not_sent', reference: 'payout-1' }]);
    expect([await sendAfter(2 * MINUTE - 1), await stateOf('payout-1')]).toEqual([NONE, 'planned']);
    expect(await sendAfter(1)).toEqual({ ...NONE, postponed: 1 });
  });
});

describe('an outage', () => {
  const UNREADABLE = json('{"result":{}}', 201);

  it.each<[string, Answer]>([
    ['answers 503', json('{}', 503)],
    ['resets every connection', networkError('ECONNRESET', 'read')],
    ['sends answers that cannot be read', UNREADABLE],
  ])('stops sending in every replica where the gateway %s', async (_, answer) => {
    const { fetch, sent } = gatewayOf(answer);
    const { send, plan, open, store, clock } = openShop(fetch);
    for (let index = 0; index < 50; index++) await plan(`payout-${index}`);
    expect(await send()).toEqual({ ...NONE, inDoubt: 1 });
    clock.now += MINUTE - 1;
    for (let replica = 0; replica < 3; replica++)
      expect(await send({}, open({ due: store.due }))).toEqual({ ...NONE, postponed: 1 });
    expect(sent).toHaveLength(1);
  });

  it('lasts 1, 2, 4, 8 and then 15 minutes, while lookups fail too, with one doubt in all', async () => {
    const gateway = gatewayOf(json('{}', 503));
    gateway.lookup = json('{}', 503);
    const { send, plan, clock } = openShop(gateway.fetch);
    for (let index = 0; index < 3; index++) await plan(`payout-${index}`);
    expect(await send()).toEqual({ ...NONE, inDoubt: 1 });
    const begun = clock.now;
    const looked: number[] = [];
    for (let second = 10; second <= 70 * 60; second += 10) {
      clock.now = begun + second * 1_000;
      const before = gateway.lookups;
      await send();
      if (gateway.lookups > before) looked.push(second / 60);
    }
    expect(looked).toEqual([1, 3, 7, 15, 30, 45, 60]);
    expect(gateway.sent).toHaveLength(1);
  });

  it('ends with an accepted payout, after which several are sent at once and the next pause is short again', async () => {
    const { fetch, sent } = gatewayOf(json('{}', 503), json('{}', 503), taken, taken, taken, json('{}', 503));
    const { send, plan, open, store, sendAfter } = openShop(fetch);
    for (let index = 0; index < 5; index++) await plan(`payout-${index}`);
    expect(await send()).toEqual({ ...NONE, inDoubt: 1 });
    // The lookup is answered, and the payout is not.
    expect(await sendAfter(MINUTE)).toEqual({ ...NONE, inDoubt: 1 });
    expect(await sendAfter(2 * MINUTE - 1)).toEqual({ ...NONE, postponed: 1 });
    expect(await sendAfter(1)).toEqual({ ...NONE, created: 3 });
    expect(await send({}, open({ due: store.due }))).toEqual(NONE);
    await plan('payout-5');
    await plan('payout-6');
    expect(await send()).toEqual({ ...NONE, inDoubt: 1 });
    expect([await sendAfter(MINUTE - 1), sent.length]).toEqual([{ ...NONE, postponed: 1 }, 6]);
  });

  it('does not hold up the others for a payout that the gateway refuses at its end', async () => {
    const { fetch } = gatewayOf(json('{}', 503), json('{}', 422), taken);
    const { send, plan, sendAfter } = openShop(fetch);
    for (let index = 0; index < 3; index++) await plan(`payout-${index}`);
    expect(await send()).toEqual({ ...NONE, inDoubt: 1 });
    expect(await sendAfter(MINUTE)).toEqual({ ...NONE, refused: 1, created: 1 });
  });

  it('is tested by one replica, with one lookup and one payout', async () => {
    const gateway = gatewayOf(json('{}', 503));
    const { send, plan, clock, open, store } = openShop(gateway.fetch);
    for (let index = 0; index < 20; index++) await plan(`payout-${index}`);
    await send();
    clock.now += MINUTE;
    const counts = await Promise.all([1, 2, 3, 4].map(() => send({}, open({ due: store.due }))));
    expect(counts.reduce((sum, { inDoubt }) => sum + inDoubt, 0)).toBe(1);
    expect([gateway.lookups, gateway.sent.length]).toEqual([1, 2]);
  });

  it('that another replica meets meanwhile stops the one that tests it', async () => {
    const refused = () => pauseSending(shop.store, { asked: 0, isUnknown: true }).then(() => json('{}', 422));
    const shop = openShop(gatewayOf(json('{}', 503), refused, taken).fetch);
    await shop.plans('payout-1', 'payout-2', 'payout-3');
    expect(await shop.send()).toEqual({ ...NONE, inDoubt: 1 });
    expect(await shop.sendAfter(MINUTE)).toEqual({ ...NONE, refused: 1, postponed: 1 });
  });

  it.each<[string, Answer]>([
    ['is refused', json('{}', 401)],
    ['gets no answer', notReached],
    ['is answered by a proxy', json('<html>', 502)],
  ])('goes on if its lookup %s', async (_, answer) => {
    const gateway = gatewayOf(json('{}', 503), taken);
    gateway.lookup = answer;
    const { send, plan, sendAfter } = openShop(gateway.fetch);
    for (let index = 0; index < 2; index++) await plan(`payout-${index}`);
    await send();
    expect([await sendAfter(MINUTE), gateway.sent.length]).toEqual([{ ...NONE, postponed: 1 }, 1]);
    gateway.lookup = json('{}', 404);
    expect(await sendAfter(2 * MINUTE)).toEqual({ ...NONE, created: 1 });
  });
});

it.each<[string, Answer, object, number]>([
  ['a busy gateway', json('{}', 429, { 'retry-after': '120' }), { postponed: 1 }, 120_000],
  ['a refusal', json('{}', 422, { 'retry-after': '120' }), { refused: 1 }, 120_000],
  ['an unknown outcome', json('{}', 503, { 'retry-after': '120' }), { inDoubt: 1 }, 120_000],
  ['30 days', json('{}', 429, { 'retry-after': '2592000' }), { postponed: 1 }, 15 * MINUTE],
])('Retry-After of %s stops every replica for that time, at most 15 minutes', async (_, answer, counts, pause) => {
  const { fetch, sent } = gatewayOf(answer, taken);
  const { send, clock, open, store, plans } = openShop(fetch);
  await plans('payout-1', 'payout-2');
  expect(await send()).toEqual({ ...NONE, ...counts });
  clock.now += pause - 1;
  await send({}, open({ due: store.due }));
  expect(sent).toHaveLength(1);
  clock.now += 1;
  expect((await send({}, open({ due: store.due }))).created).toBeGreaterThan(0);
});

describe('a store that answers late', () => {
  it('counts a payout as in doubt if it is not taken back in time, and sends it later', async () => {
    vi.useFakeTimers();
    const { fetch, sent } = gatewayOf(notReached, taken);
    const { store, open, send, stateOf, sendAfter, plans } = openShop(fetch);
    const answered = Promise.withResolvers<void>();
    const slow = open({
      write: async (row, tx) => {
        if (row.state === 'planned') await answered.promise;
        return store.write(row, tx);
      },
    });
    await plans('payout-1', 'payout-2');
    const sending = send({ concurrency: 1 }, slow);
    await vi.advanceTimersByTimeAsync(5_001);
    expect([await sending, sent.length, await stateOf('payout-1')]).toEqual([{ ...NONE, inDoubt: 1 }, 1, 'begun']);
    // The store is written in the background.
    answered.resolve();
    await vi.advanceTimersByTimeAsync(1);
    expect(await stateOf('payout-1')).toBe('planned');
    expect(await sendAfter(MINUTE)).toEqual({ ...NONE, created: 2 });
  });
});
