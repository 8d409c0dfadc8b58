// What a scenario arms, waits for and reports, beside payments that are none of its own; and what the logs keep of it.
import { ConfigurationError } from 'payment-gateway-sdk';
import { Sandbox, type SandboxEvent, type SandboxOptions, type Scenario } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it, vi } from 'vitest';
import { create } from '../support/eventful.ts';
import { errorOf } from '../support/fixtures.ts';

const CREATE = { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: 25.5, currency: 'EUR' } as const;

const sandboxOf = (options: SandboxOptions<'standard'> = {}) =>
  new Sandbox({ fetch: async () => new Response(), ...options });

async function problemsOf(sandbox: Sandbox, steps: Scenario['steps'], expected?: Scenario['expect']) {
  const { problems } = await sandbox.play({ create: CREATE, steps, expect: expected });
  return problems;
}

describe('a scenario whose callback still waits at its end', () => {
  const ANY = { expect: { callbacks: [] } };

  it('names the step that is missing', async () => {
    expect(await problemsOf(sandboxOf(), [{ fault: 'callback-reorder' }, { move: 'authorize', ...ANY }])).toEqual([
      'The callback of AUTHORIZED still waits at the end. Add a step: another move.',
    ]);
    expect(await problemsOf(sandboxOf(), [{ fault: 'callback-delay' }, { move: 'authorize', ...ANY }])).toEqual([
      'The callback of AUTHORIZED still waits at the end. Add a step: advance: with the time of its delay.',
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
    expect(seen).toStrictEqual([{ id: 1, fault: step.fault, reference: payment.reference, ...armed }]);
  });

  it('that was met once is no problem, though it is armed for more', async () => {
    const steps: Scenario['steps'] = [
      { fault: 'callback-duplicate', count: 2 },
      { move: 'complete', expect: { callbacks: ['answered', 'answered'] } },
    ];
    expect(await problemsOf(sandboxOf(), steps)).toEqual([]);
  });

  it('that was met by no lookup says what a server must do', async () => {
    expect(
      await problemsOf(sandboxOf(), [{ fault: 'drop' }, { move: 'complete', expect: { callbacks: ['answered'] } }]),
    ).toEqual([
      'steps[0] (fault: drop): your server has not looked the payment up. It must, before it acts on a callback: createWebhookHandler does.',
    ]);
  });
});

it('a scenario moves a payment out of a final state by force', async () => {
  const { payment } = await sandboxOf().play({
    create: CREATE,
    steps: [{ move: 'complete' }, { move: 'authorize', force: true }],
  });
  expect(payment.paymentStatus).toBe('AUTHORIZED');
});

it('an option of play that is wrong is refused by its name', async () => {
  const error = await errorOf(sandboxOf().play('deposit-completed', { to: 'ftp://shop.example' }));
  expect(error).toBeInstanceOf(ConfigurationError);
  expect((error as Error).message).toMatch(/^sandbox\.play: to /);
});

describe('a fault that is armed', () => {
  it('keeps what it was given, and nothing else', () => {
    const { faults } = sandboxOf();
    expect(faults.next('drop')).toStrictEqual({ id: 1, fault: 'drop', on: 'create', count: 1 });
    expect(
      faults.next('slow', { on: 'lookup', ms: 5, probability: 0.5, reference: 'order-1', count: 3 }),
    ).toStrictEqual({
      ...{ id: 2, fault: 'slow', on: 'lookup', count: 3 },
      ...{ ms: 5, probability: 0.5, reference: 'order-1' },
    });
    expect(faults.armed.map(fault => Object.keys(fault).length)).toEqual([4, 7]);
  });

  it.each<[unknown, object, string]>([
    ['drp', {}, 'No fault is called "drp". Did you mean drop?'],
    [7, {}, 'No fault is called 7. There are: drop, reject-401, '],
    [['drop'], {}, 'No fault is called ["drop"]. Did you mean drop?'],
    ['drop', { count: 0 }, 'faults.next: count must be 1 or more.'],
  ])('%j with %j is refused', (name, options, message) => {
    expect(() => sandboxOf().faults.next(name as never, options)).toThrow(message);
  });

  it('tells listeners when it is armed, disarmed, and cleared', () => {
    const told: Partial<SandboxEvent>[] = [];
    const { faults } = sandboxOf({ onEvent: ({ at: _, ...event }) => told.push(event as never) });
    faults.disarm(faults.next('drop').id);
    faults.clear();
    expect(told).toStrictEqual([
      { type: 'fault', fault: 'drop' },
      { type: 'fault', fault: 'drop', isDisarmed: true },
      { type: 'fault' },
    ]);
  });
});

describe('the log of calls', () => {
  const lookUp = (sandbox: Sandbox, id: string) =>
    sandbox.fetch(`http://sandbox.localhost/api/v1/payments/${id}`, {
      headers: { authorization: 'Bearer sandbox-api-key' },
    });
  const numbersOf = (sandbox: Sandbox) => sandbox.save().calls.map(({ id }) => id);

  it('is saved in the order of arrival, with the create of each payment', async () => {
    const sandbox = sandboxOf();
    await lookUp(sandbox, 'none');
    const id = await create(sandbox);
    await lookUp(sandbox, id);
    expect(numbersOf(sandbox)).toEqual([1, 2, 3]);
    for (let count = 0; count < 500; count++) await lookUp(sandbox, 'none');
    expect(numbersOf(sandbox).slice(0, 2)).toEqual([2, 4]);
    expect(sandbox.calls).toHaveLength(500);
  });

  it('is empty after a reset', async () => {
    const sandbox = sandboxOf();
    await create(sandbox);
    sandbox.reset();
    expect([sandbox.calls, numbersOf(sandbox)]).toEqual([[], []]);
    await lookUp(sandbox, 'none');
    expect(numbersOf(sandbox)).toEqual([1]);
  });

  it('forgets the create of a payment that makes way', async () => {
    const sandbox = sandboxOf({ maxPayments: 1 });
    await sandbox.cancel(await create(sandbox));
    await sandbox.idle();
    for (let count = 0; count < 500; count++) await lookUp(sandbox, 'none');
    await sandbox.cancel(await create(sandbox));
    await sandbox.idle();
    expect(numbersOf(sandbox)).not.toContain(1);
  });

  it('says which calls a scenario made', async () => {
    const told: SandboxEvent[] = [];
    const sandbox = sandboxOf({ onEvent: event => told.push(event) });
    await sandbox.play({ create: CREATE });
    await create(sandbox);
    const requests = told.filter(({ type }) => type === 'request');
    expect(requests.map(event => 'isPlayed' in event && event.isPlayed)).toEqual([true, false]);
    expect(sandbox.calls.map(({ isPlayed }) => isPlayed)).toEqual([true, undefined]);
  });
});

it('a payment that makes way takes its own waiting callback along, and no other', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const sandbox = sandboxOf({ maxPayments: 1 });
  const old = await create(sandbox);
  sandbox.faults.next('callback-delay', { ms: 1_000, count: 2 });
  await sandbox.cancel(old);
  const young = await create(sandbox);
  await sandbox.cancel(young);
  expect(sandbox.payments.map(({ id }) => id)).toEqual([young]);
  vi.useRealTimers();
  sandbox.clock.advance(2_000);
  await sandbox.idle();
  expect(sandbox.deliveries.map(({ paymentId }) => paymentId)).toEqual([young]);
});
