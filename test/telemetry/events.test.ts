// The events of whole calls: those that belong together, and the end of each call.
import { createWebhookHandler, GatewayClient, type GatewayEvent, memoryStore } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { expect, it } from 'vitest';
import { HANDLER } from '../../src/upkeep/handler-link.ts';
import { CARD } from '../support/fixtures.ts';
import { fakeTimers, whileTimePasses } from '../support/passing-time.ts';

const order = { ...CARD, reference: 'order-1' } as const;

function open(options: object = {}) {
  const events: GatewayEvent[] = [];
  const sandbox = new Sandbox({ fetch: async () => new Response() });
  const onEvent = (event: GatewayEvent) => void events.push(event);
  const store = memoryStore();
  const gateway = new GatewayClient({ ...sandbox.clientOptions, store, onEvent, retries: 0, ...options });
  const handler = createWebhookHandler({ gateway, onPayment: () => {} });
  /** The events of a piece of work. */
  const told = async (work: () => Promise<unknown>) => {
    events.length = 0;
    await work().catch(() => {});
    return events.map(({ callId, durationMs, ...event }) => event);
  };
  const idsOf = (...types: string[]) =>
    new Set(events.filter(({ type }) => types.length === 0 || types.includes(type)).map(({ callId }) => callId));
  return { sandbox, gateway, handler, store, events, told, idsOf };
}

it('a create reports its row, its attempt and its end under one id', async () => {
  const { gateway, told, idsOf } = open();
  expect(await told(() => gateway.createDeposit(order))).toMatchObject([
    { operation: 'create', type: 'store', change: 'begun', attempt: 0 },
    { operation: 'create', type: 'request', attempt: 1 },
    { operation: 'create', type: 'response', status: 201, attempt: 1 },
    { operation: 'create', type: 'store', change: 'created', attempt: 1 },
    { operation: 'create', type: 'success', outcome: 'ok', paymentStatus: 'PENDING', attempt: 1 },
  ]);
  expect(idsOf().size).toBe(1);
});

it('a replayed create says so, and its lookup has its id', async () => {
  const { sandbox, gateway, told, idsOf } = open();
  await gateway.createDeposit(order);
  const replayed = (await told(() => gateway.createDeposit(order))).at(-1);
  expect(replayed).toMatchObject({ operation: 'create', type: 'success', outcome: 'replayed', attempt: 0 });
  expect(idsOf().size).toBe(1);
  sandbox.faults.next('reject-401', { on: 'lookup' });
  const stale = await told(() => gateway.createDeposit(order));
  expect(stale.at(-1)).toMatchObject({ operation: 'create', type: 'success', outcome: 'stale' });
  expect(stale).toContainEqual(expect.objectContaining({ operation: 'lookup', type: 'failure', code: 'api_error' }));
  expect(idsOf().size).toBe(1);
});

it('the lookups of one wait have one id', async () => {
  const { sandbox, gateway, told, idsOf } = open();
  const { payment } = await gateway.createDeposit(order);
  fakeTimers();
  const waiting = told(() =>
    gateway.waitForPayment(payment.id, {
      onPoll: ({ paymentStatus }) => void (paymentStatus === 'PENDING' && sandbox.complete(payment.id)),
      timeout: 5_000,
    }),
  );
  const events = await whileTimePasses(waiting, 10);
  expect(
    events.filter(({ type }) => type === 'success').map(event => 'paymentStatus' in event && event.paymentStatus),
  ).toEqual(['PENDING', 'COMPLETED']);
  expect(idsOf().size).toBe(1);
});

it('a settlement reports its change and its end', async () => {
  const { sandbox, gateway, told, idsOf } = open();
  sandbox.faults.next('commit-then-drop');
  await gateway.createDeposit(order).catch(() => {});
  const id = sandbox.payments[0]?.id ?? '';
  expect(await told(() => gateway.settle('order-1', id))).toMatchObject([
    { operation: 'lookup', type: 'request' },
    { operation: 'lookup', type: 'response' },
    { operation: 'lookup', type: 'success' },
    { operation: 'settle', type: 'store', change: 'settled', reference: 'order-1', paymentId: id },
    { operation: 'settle', type: 'success', outcome: 'ok', reference: 'order-1' },
  ]);
  expect(idsOf().size).toBe(1);
  expect(await told(() => gateway.settle('order-2', id))).toContainEqual(
    expect.objectContaining({ operation: 'settle', type: 'failure', code: 'invalid_request', reference: 'order-2' }),
  );
});

it('an invalid reference is not in the events of its settlement', async () => {
  const { gateway, told } = open();
  const events = await told(() => gateway.settle({ email: 'zoe@customer.example' } as never, 'not_created'));
  expect(events.at(-1)).toMatchObject({ operation: 'settle', type: 'failure' });
  expect(JSON.stringify(events)).not.toContain('zoe@');
});

const withCode = (code: unknown) => Object.assign(new RangeError('zoe@customer.example'), { code });

it.each<[string, unknown, string, string]>([
  ['a code of a driver', withCode('ER_LOCK_DEADLOCK'), 'RangeError', 'ER_LOCK_DEADLOCK'],
  ['the longest code', withCode('x'.repeat(40)), 'RangeError', 'x'.repeat(40)],
  ['a longer one', withCode('x'.repeat(41)), 'RangeError', 'failed'],
  ['a code with more before it', withCode('zoe: E1'), 'RangeError', 'failed'],
  ['a number', withCode(1205), 'RangeError', 'failed'],
  ['a string', 'zoe@customer.example', 'string', 'failed'],
])('a failure outside the SDK is reported by its name, and its code if valid: %s', async (_, thrown, error, code) => {
  const { gateway, handler, store, told } = open();
  store.due = () => Promise.reject(thrown);
  const failure = (await told(() => gateway.upkeep({ handler, once: true }))).at(-1);
  expect(failure).toEqual({ operation: 'upkeep', type: 'failure', attempt: 0, error, code });
});

it('a callback reports the doubt that it settles', async () => {
  const { sandbox, gateway, handler, told } = open();
  sandbox.faults.next('commit-then-drop');
  await gateway.createDeposit(order).catch(() => {});
  const id = sandbox.payments[0]?.id ?? '';
  await sandbox.complete(id);
  expect(await told(() => handler[HANDLER].process(id, { timeout: 1_000 }))).toContainEqual(
    expect.objectContaining({ operation: 'callback', type: 'store', change: 'settled', paymentId: id }),
  );
});
