// What a scenario arms, waits for and reports, beside payments that are none of its own; and what the logs keep of it.
import { ConfigurationError } from 'payment-gateway-sdk';
import type { Sandbox, SandboxEvent, Scenario } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it, vi } from 'vitest';
import { witnessed } from '../../src/sandbox/scenarios/judge.ts';
import { CREATE, create, sandboxOf } from '../support/eventful.ts';
import { errorOf } from '../support/fixtures.ts';

async function problemsOf(sandbox: Sandbox, steps: Scenario['steps'], expected?: Scenario['expect']) {
  const { problems } = await sandbox.play({ create: CREATE, steps, expect: expected });
  return problems;
}

describe('a scenario whose callback still waits at its end', () => {
  it('names the step that is missing', async () => {
    const steps: Scenario['steps'] = [{ fault: 'callback-reorder' }, { move: 'authorize', expect: { callbacks: [] } }];
    expect(await problemsOf(sandboxOf(), steps)).toEqual([
      'The callback of AUTHORIZED still waits at the end. Add a step: another move.',
    ]);
  });

  it('says nothing where it is that of another payment, or a repetition', async () => {
    const sandbox = sandboxOf();
    const other = await create(sandbox, { reference: 'order-1' });
    sandbox.faults.next('callback-delay', { reference: 'order-1' });
    await sandbox.authorize(other);
    expect(await problemsOf(sandbox, [{ move: 'authorize', expect: { callbacks: ['answered'] } }])).toEqual([]);
    const refusing = sandboxOf({ callbackRetries: [60_000], fetch: async () => new Response(null, { status: 503 }) });
    expect(await problemsOf(refusing, [{ move: 'authorize', expect: { callbacks: ['refused'] } }])).toEqual([]);
    sandbox.reset();
    refusing.reset();
  });
});

describe('a fault of a scenario', () => {
  it.each([
    [
      { fault: 'callback-delay', ms: '5s' },
      { on: 'callback', ms: 5_000, count: 1 },
    ],
    [
      { fault: 'slow', ms: 7, count: 2 },
      { on: 'lookup', ms: 7, count: 2 },
    ],
    [{ fault: 'drop' }, { on: 'lookup', count: 1 }],
  ] as const)('%j is armed for its own payment alone', async (step, armed) => {
    const seen: unknown[] = [];
    const sandbox: Sandbox = sandboxOf({
      onEvent: event => {
        if (event.type === 'fault' && !event.isDisarmed) seen.push(...sandbox.faults.armed);
      },
    });
    const { payment } = await sandbox.play({ create: CREATE, steps: [step] });
    expect(seen).toEqual([{ id: 1, fault: step.fault, reference: payment.reference, ...armed }]);
  });

  it('that was met once is no problem, though it is armed for more', async () => {
    const steps: Scenario['steps'] = [
      { fault: 'callback-duplicate', count: 2 },
      { move: 'complete', expect: { callbacks: ['answered', 'answered'] } },
    ];
    expect(await problemsOf(sandboxOf(), steps)).toEqual([]);
  });
});

it('an option of play that is wrong is refused by its name', async () => {
  const error = await errorOf(sandboxOf().play('deposit-completed', { to: 'ftp://shop.example' }));
  expect(error).toBeInstanceOf(ConfigurationError);
  expect((error as Error).message).toMatch(/^sandbox\.play: to /);
});

it('a scenario that was played is told of, and its steps that had no meaning', async () => {
  const told: SandboxEvent[] = [];
  const sandbox = sandboxOf({ onEvent: event => told.push(event) });
  const steps: Scenario['steps'] = [{ move: 'complete', expect: { callbacks: ['taken'] } }, { redeliver: 7 }];
  const { payment, problems } = await sandbox.play({ create: CREATE, steps });
  expect(told.at(-1)).toMatchObject({ type: 'scenario', paymentId: payment.id, name: 'scenario' });
  expect(problems).toEqual(['steps[1] (redeliver: 7): there are 1 callbacks so far, and the first is 1.']);
  expect(payment.reference).toMatch(/^scenario-[\da-f]{8}$/);
});

describe('the stream of events', () => {
  const stream = (sandbox: Sandbox) => sandbox.fetch('http://sandbox.localhost/_sandbox/events');

  it('gives a line of JSON for each, and is watched no more once its reader has left', async () => {
    const sandbox = sandboxOf();
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
    const sandbox = sandboxOf();
    const answer = await sandbox.fetch(`http://sandbox.localhost${path}`);
    for (let count = 0; count < 20_000; count++) sandbox.clock.advance(1);
    const text = await answer.text();
    const events = text.trim().split(/\n+/).length;
    expect(events).toBeGreaterThan(100);
    expect(events).toBeLessThan(20_000);
  });
});

describe('a lookup while a callback is answered', () => {
  const lookup = (at: number, rest: object = {}) => ({ type: 'request', method: 'GET', at, status: 200, ...rest });
  const posted = (at: number) => ({ type: 'callback', at: at + 5, delivery: { at } });

  it.each<[string, object[], seen: string]>([
    ['confirms it, and no later one', [lookup(10), posted(10), posted(10)], 'looked up, not'],
    ['must begin after it', [lookup(9), posted(10)], 'not'],
    ['must be answered', [lookup(11, { status: 401 }), posted(10)], 'not'],
    ['may meet a fault', [lookup(11, { status: 502, fault: 'commit-then-502' }), posted(10)], 'hindered'],
    ['is not a create', [lookup(11, { method: 'POST' }), posted(10)], 'not'],
  ])('%s', (_, history, seen) => {
    const callbacks = witnessed(history as SandboxEvent[]);
    const seenOf = callbacks.map(one => (one.isLookedUp ? 'looked up' : one.isHindered ? 'hindered' : 'not'));
    expect(seenOf.join(', ')).toBe(seen);
  });

  it('excuses a refusal if it met a fault', async () => {
    const sandbox: Sandbox = sandboxOf({
      fetch: async (_, { body }) => {
        const { id } = JSON.parse(String(body));
        const headers = { authorization: 'Bearer sandbox-api-key' };
        await sandbox.fetch(`http://sandbox.localhost/api/v1/payments/${id}`, { headers });
        return new Response(null, { status: 503 });
      },
    });
    expect(await problemsOf(sandbox, [{ fault: 'reject-429' }, { move: 'complete' }])).toEqual([]);
  });
});
