// What the sandbox keeps: deliveries, timelines, what a server did while it was called back, and who listens.
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it, vi } from 'vitest';
import type { Delivery } from '../../src/sandbox/callbacks/delivery.ts';
import type { SandboxEvent } from '../../src/sandbox/events.ts';
import { Kept, Log } from '../../src/sandbox/log.ts';
import { Witness } from '../../src/sandbox/scenarios/witness.ts';
import { create } from '../support/eventful.ts';

const delivery = (paymentId: string, rest: Partial<Delivery> = {}) => ({
  ...{ at: 0, paymentId, paymentStatus: 'COMPLETED', url: 'http://127.0.0.1/', body: '{}', status: 200 },
  ...rest,
});

describe('a kept list', () => {
  const ended = { durationMs: 1, name: '' };
  function filled() {
    const list = new Kept<{ id: number; durationMs?: number; name: string }>(4);
    for (let count = 0; count < 4; count++) list.add(ended);
    return list;
  }
  const idsOf = (all: { id: number }[]) => all.map(({ id }) => id);

  it('gives the latest ones, the newest first', () => {
    expect(idsOf(filled().latest(2))).toEqual([4, 3]);
    expect(idsOf(filled().latest())).toEqual([4, 3, 2, 1]);
  });

  it('forgets the oldest above its limit, each once', () => {
    const list = filled();
    list.add(ended);
    list.drop(1);
    expect([idsOf(list.all), list.forgotten, list.find(1)]).toEqual([[2, 3, 4, 5], 1, undefined]);
  });

  it('keeps running ones above its limit', () => {
    const list = new Kept<{ id: number; durationMs?: number; name: string }>(1);
    for (let count = 0; count < 3; count++) list.add({ name: '' });
    expect(list.size).toBe(3);
  });

  it('continues the numbers of a restored list', () => {
    const list = filled();
    list.restore([{ id: 7, ...ended }]);
    expect([list.add(ended).id, list.size, list.forgotten]).toEqual([8, 2, 0]);
  });
});

const call = (method: string, at: number, rest: object = {}): SandboxEvent => ({
  ...{ type: 'request', callId: at, at, method, path: '/', paymentId: 'a', durationMs: 1, status: 200 },
  ...rest,
});
const posted = (at: number, paymentId = 'a'): SandboxEvent => ({
  type: 'callback',
  at: at + 5,
  delivery: { id: at, ...delivery(paymentId, { at }) },
});

describe('the timeline of a payment', () => {
  const timesOf = (events: SandboxEvent[]) =>
    events.map(one =>
      one.type === 'callback' ? `callback ${one.delivery.at}` : `${'method' in one ? one.method : ''} ${one.at}`,
    );

  it('is in order of time, a callback at its beginning', () => {
    const log = new Log(9, () => 20);
    for (const event of [call('POST', 10), call('GET', 30)]) log.emit(event);
    Object.assign(log.post(delivery('a', { at: 20 })), { durationMs: 1 });
    log.emit(call('GET', 15));
    log.emit(call('GET', 20));
    expect(timesOf(log.timeline('a'))).toEqual(['POST 10', 'GET 15', 'callback 20', 'GET 20', 'GET 30']);
  });

  it('lacks a running callback until its end', () => {
    const log = new Log(9, () => 0);
    const posted = log.post(delivery('a'));
    expect([log.timeline('a'), log.deliveriesOf('a')]).toEqual([[], [posted]]);
    Object.assign(posted, { durationMs: 1 });
    expect(log.timeline('a')).toMatchObject([{ type: 'callback', delivery: { id: 1 } }]);
  });

  it('has its own events alone, and is forgotten with its deliveries', () => {
    const log = new Log(9, () => 0);
    const events = [call('POST', 1), call('POST', 2, { paymentId: 'b' }), call('POST', 3, { paymentId: undefined })];
    for (const event of events) log.emit(event);
    for (const id of ['a', 'b']) Object.assign(log.post(delivery(id)), { durationMs: 1 });
    expect(log.timelines.map(([id, events]) => [id, events.length])).toEqual([
      ['a', 2],
      ['b', 2],
    ]);
    log.forget('a');
    expect([log.timeline('a'), log.timeline('b').length]).toEqual([[], 2]);
    expect([log.deliveries.size, log.deliveries.forgotten]).toEqual([1, 1]);
    log.clear();
    expect([log.timelines, log.deliveries.size]).toEqual([[], 0]);
  });

  it('keeps every callback, however often its payment is looked up, and lists the kept ones', () => {
    const log = new Log(1, () => 0);
    for (let count = 0; count < 2; count++) Object.assign(log.post(delivery('a')), { durationMs: 1 });
    for (let at = 1; at < 600; at++) log.emit(call('GET', at));
    expect(log.timeline('a').filter(({ type }) => type === 'callback')).toHaveLength(2);
    expect(log.deliveriesOf('a').map(({ id }) => id)).toEqual([2]);
  });

  it('keeps the first and the latest of those that go on for days', () => {
    const log = new Log(9, () => 0);
    for (let at = 0; at < 600; at++) log.emit(call(at === 0 ? 'POST' : 'GET', at));
    const times = timesOf(log.timeline('a'));
    expect([times.length, times[0], times[1], times.at(-1)]).toEqual([500, 'POST 0', 'GET 101', 'GET 599']);
  });
});

describe('what a server did while it was called back', () => {
  const witnessed = (...events: SandboxEvent[]) => {
    const bus = new Log(9, () => 0);
    const witness = new Witness(bus);
    for (const event of events) bus.emit(event);
    return witness.callbacksOf('a').map(({ isLookedUp, isHindered }) => [isLookedUp, isHindered]);
  };

  it.each<[string, SandboxEvent[], [boolean, boolean]]>([
    ['nothing', [], [false, false]],
    ['a lookup', [call('GET', 20)], [true, false]],
    ['a lookup in the same millisecond', [call('GET', 10)], [true, false]],
    ['a lookup before it', [call('GET', 9)], [false, false]],
    ['a lookup that was refused', [call('GET', 20, { status: 401 })], [false, false]],
    ['a lookup that met a fault', [call('GET', 20, { status: 502, fault: 'commit-then-502' })], [false, true]],
    ['a lookup of another payment', [call('GET', 20, { paymentId: 'b' })], [false, false]],
    ['a lookup of none', [call('GET', 20, { paymentId: undefined })], [false, false]],
    ['a create', [call('POST', 20)], [false, false]],
    ['something else', [{ type: 'move', at: 20, paymentId: 'a' } as SandboxEvent], [false, false]],
  ])('%s', (_, events, seen) => {
    expect(witnessed(...events, posted(10), posted(20, 'b'))).toEqual([seen]);
  });

  it('counts for that callback, and not for the next', () => {
    expect(witnessed(call('GET', 20), posted(10), posted(15))).toEqual([
      [true, false],
      [false, false],
    ]);
  });

  it('is no longer watched once it leaves', () => {
    const bus = new Log(9, () => 0);
    const witness = new Witness(bus);
    witness.leave();
    bus.emit(posted(10));
    expect(witness.callbacksOf('a')).toEqual([]);
  });
});

it('a scenario that was played is told of, and leaves no fault behind', async () => {
  const told: SandboxEvent[] = [];
  const sandbox = new Sandbox({ fetch: async () => new Response(), onEvent: event => told.push(event) });
  const { payment, problems } = await sandbox.play({
    create: { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: 5, currency: 'EUR' },
    steps: [{ fault: 'callback-delay', ms: '5s' }, { move: 'complete', expect: { callbacks: [] } }, { redeliver: 7 }],
  });
  const { type, paymentId, name } = told.findLast(event => event.type === 'scenario') as SandboxEvent & {
    paymentId: string;
    name: string;
  };
  expect([type, paymentId, name]).toEqual(['scenario', payment.id, 'scenario']);
  expect(problems).toEqual([
    'steps[2] (redeliver: 7): there are 0 callbacks so far, and the first is 1.',
    'The callback of COMPLETED still waits at the end. Add a step: advance: with the time of its delay.',
  ]);
  expect(sandbox.faults.armed).toEqual([]);
  expect(sandbox.calls.at(-1)).toMatchObject({
    isPlayed: true,
    headers: expect.arrayContaining([['content-type', 'application/json']]),
  });
  expect(payment.reference).toMatch(/^scenario-[\da-f]{8}$/);
});

it('a scenario that is reset is refused', async () => {
  const sandbox: Sandbox = new Sandbox({
    fetch: async () => {
      sandbox.reset();
      return new Response();
    },
  });
  const playing = sandbox.play({
    create: { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: 5, currency: 'EUR' },
    steps: [{ move: 'complete' }],
  });
  await expect(playing).rejects.toMatchObject({
    code: 'refused',
    message: 'The sandbox was reset while the scenario was played.',
  });
});

describe('the stream of events', () => {
  const stream = (sandbox: Sandbox) => sandbox.fetch('http://sandbox.localhost/_sandbox/events');

  it('gives a line of JSON for each, and is watched no more once its reader has left', async () => {
    const sandbox = new Sandbox({ fetch: async () => new Response() });
    const { headers, body } = await stream(sandbox);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/x-ndjson',
      'cache-control': 'no-store',
    });
    const reader = body?.getReader();
    const next = async () => new TextDecoder().decode((await reader?.read())?.value);
    expect(await next()).toBe('\n');
    await create(sandbox);
    const value = await next();
    expect([value.at(-1), JSON.parse(value)]).toMatchObject(['\n', { type: 'request', method: 'POST' }]);
    const left = vi.spyOn(Set.prototype, 'delete');
    await reader?.cancel();
    expect(left).toHaveBeenCalledWith(expect.any(Function));
    left.mockRestore();
  });

  it.each(['/_sandbox/events', '/live'])('at %s ends for who does not read it, and not for who is slow', async path => {
    const sandbox = new Sandbox({ fetch: async () => new Response() });
    const answer = await sandbox.fetch(`http://sandbox.localhost${path}`);
    for (let count = 0; count < 20_000; count++) sandbox.clock.advance(1);
    const text = await answer.text();
    const events = text.trim().split(/\n+/).length;
    expect(events).toBeGreaterThan(100);
    expect(events).toBeLessThan(20_000);
  });
});
