// What the sandbox keeps: deliveries, timelines, what a server did while it was called back, and who listens.
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it, vi } from 'vitest';
import type { Delivery } from '../../src/sandbox/callbacks/delivery.ts';
import { DeliveryLog } from '../../src/sandbox/callbacks/delivery-log.ts';
import { EventBus, type SandboxEvent } from '../../src/sandbox/event-bus.ts';
import { History } from '../../src/sandbox/history.ts';
import { Witness } from '../../src/sandbox/scenarios/witness.ts';
import { create } from '../support/eventful.ts';

const delivery = (paymentId: string, rest: Partial<Delivery> = {}) => ({
  ...{ at: 0, paymentId, paymentStatus: 'COMPLETED', url: 'http://127.0.0.1/', body: '{}', status: 200 },
  ...rest,
});

describe('the log of deliveries', () => {
  function filled() {
    const log = new DeliveryLog(4);
    for (const paymentId of ['a', 'b', 'a', 'c']) log.add(delivery(paymentId));
    return log;
  }
  const idsOf = (deliveries: Delivery[]) => deliveries.map(({ id }) => id);

  it('gives the last ones, the newest first, and the last of each payment', () => {
    const log = filled();
    expect(idsOf(log.latest(2))).toEqual([4, 3]);
    expect(idsOf(log.latest(9))).toEqual([4, 3, 2, 1]);
    expect([log.lastOf('a')?.id, log.lastOf('b')?.id, log.lastOf('nobody')]).toEqual([3, 2, undefined]);
  });

  it('gives copies: who changes one changes nothing in the log', () => {
    const log = filled();
    for (const copy of [log.get(3), log.lastOf('a'), log.latest(2)[1], log.all[2]])
      Object.assign(copy ?? {}, { status: 1 });
    expect(log.get(3).status).toBe(200);
    expect(log.lastOf('a')).toEqual({ id: 3, ...delivery('a') });
  });

  it('forgets the oldest above its limit, and which was the last of its payment', () => {
    const log = filled();
    log.add(delivery('d'));
    expect([idsOf(log.all), log.forgotten, log.lastOf('a')?.id]).toEqual([[2, 3, 4, 5], 1, 3]);
    log.add(delivery('e'));
    expect([log.lastOf('b'), log.forgotten]).toEqual([undefined, 2]);
    expect(() => log.get(1)).toThrow('The sandbox has made no delivery 1.');
  });

  it('forgets a delivery once, also if told twice, and a payment with all of its own', () => {
    const log = filled();
    log.drop(2);
    log.drop(2);
    expect([idsOf(log.all), log.forgotten]).toEqual([[1, 3, 4], 1]);
    log.forget('a');
    expect([idsOf(log.all), log.lastOf('a'), log.lastOf('c')?.id]).toEqual([[4], undefined, 4]);
  });

  it('keeps what is under way, however much that is', () => {
    const log = new DeliveryLog(1);
    const { status: _, ...underWay } = delivery('a');
    for (let count = 0; count < 3; count++) log.add(underWay);
    expect(log.size).toBe(3);
  });

  it('is empty once it was cleared, and counts from 1', () => {
    const log = filled();
    log.add(delivery('a'));
    log.clear();
    expect([log.size, log.forgotten, log.lastOf('a')]).toEqual([0, 0, undefined]);
    expect(log.add(delivery('b')).id).toBe(1);
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
  function history() {
    const bus = new EventBus(() => 0);
    const own = new History(bus);
    return { own, tell: (...events: SandboxEvent[]) => void events.map(event => bus.emit(event)) };
  }
  const timesOf = (events: SandboxEvent[]) =>
    events.map(one =>
      one.type === 'callback' ? `callback ${one.delivery.at}` : `${'method' in one ? one.method : ''} ${one.at}`,
    );

  it('is in the order of time, a callback at its beginning', () => {
    const { own, tell } = history();
    tell(call('POST', 10), call('GET', 30), posted(20), call('GET', 15));
    expect(timesOf(own.ofPayment('a'))).toEqual(['POST 10', 'GET 15', 'callback 20', 'GET 30']);
  });

  it('has a callback before the lookups that were made meanwhile, and after what came before it', () => {
    const { own, tell } = history();
    tell(call('POST', 10), call('GET', 9), call('GET', 10), call('GET', 10), posted(10));
    expect(timesOf(own.ofPayment('a'))).toEqual(['GET 9', 'POST 10', 'callback 10', 'GET 10', 'GET 10']);
  });

  it('has its own events alone, and is forgotten alone or with all others', () => {
    const { own, tell } = history();
    tell(call('POST', 1), call('POST', 2, { paymentId: 'b' }), call('POST', 3, { paymentId: undefined }));
    tell({ type: 'reset', at: 4 }, posted(5, 'b'));
    expect(own.entries.map(([id, events]) => [id, events.length])).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
    own.forget('a');
    expect([own.ofPayment('a'), own.ofPayment('b').length]).toEqual([[], 2]);
    own.clear();
    expect(own.entries).toEqual([]);
  });

  it('keeps the first and the latest of those that go on for days', () => {
    const { own, tell } = history();
    for (let at = 0; at < 600; at++) tell(call(at === 0 ? 'POST' : 'GET', at));
    const times = timesOf(own.ofPayment('a'));
    expect([times.length, times[0], times[1], times.at(-1)]).toEqual([500, 'POST 0', 'GET 101', 'GET 599']);
  });
});

describe('a callback that comes late', () => {
  it('is kept, however often its payment was looked up meanwhile', () => {
    const bus = new EventBus(() => 0);
    const own = new History(bus);
    bus.emit(call('POST', 0));
    for (let at = 1; at < 600; at++) bus.emit(call('GET', at));
    bus.emit(posted(600));
    expect(own.ofPayment('a').map(({ type }) => type)).toContain('callback');
  });

  it('comes after the create, also within one millisecond', () => {
    const bus = new EventBus(() => 0);
    const own = new History(bus);
    for (const event of [posted(10), call('POST', 10), posted(10)]) bus.emit(event);
    expect(own.ofPayment('a').map(({ type }) => type)).toEqual(['callback', 'request', 'callback']);
  });
});

describe('what a server did while it was called back', () => {
  const witnessed = (...events: SandboxEvent[]) => {
    const bus = new EventBus(() => 0);
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
    const bus = new EventBus(() => 0);
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
