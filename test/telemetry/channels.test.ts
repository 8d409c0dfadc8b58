// Node's tracing channels, as a tracer sees them.
import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import { inspect } from 'node:util';
import { createWebhookHandler, GatewayClient, memoryStore } from 'payment-gateway-sdk';
import type { CallTrace } from 'payment-gateway-sdk/otel';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { HANDLER } from '../../src/upkeep/handler-link.ts';
import { CARD, PAYOUT, throwing } from '../support/fixtures.ts';

const OTHER_ID = '0b8f5a4e-3d21-4c6b-9a77-1d2e3f405162';
const CHANNELS = ['create', 'lookup', 'callback', 'store'] as const;
const order = { ...CARD, reference: 'order-1', customer: { email: 'zoe@customer.example' } } as const;

/** Listens on all channels. */
function listen() {
  const seen: { channel: string; step: string; trace: CallTrace }[] = [];
  for (const channel of CHANNELS) {
    const add = (step: string) => (trace: unknown) => void seen.push({ channel, step, trace: trace as CallTrace });
    const subscribers = {
      start: add('start'),
      end: add('end'),
      asyncStart: add('asyncStart'),
      asyncEnd: add('asyncEnd'),
      error: add('error'),
    };
    const tracing = tracingChannel(`payment-gateway-sdk:${channel}`);
    tracing.subscribe(subscribers);
    onTestFinished(() => void tracing.unsubscribe(subscribers));
  }
  /** The calls that have ended. */
  const ended = () =>
    seen.filter(({ step }) => step === 'asyncEnd').map(({ channel, trace }) => ({ channel, ...trace }));
  return { seen, ended };
}

function open() {
  const sandbox = new Sandbox();
  const store = memoryStore();
  const gateway = new GatewayClient({ ...sandbox.clientOptions, store, retries: 0 });
  const handler = createWebhookHandler({ gateway, onPayment: () => {} });
  return { sandbox, store, gateway, handler };
}

const callId = expect.stringMatching(/^[\da-f-]{36}$/);

describe('the tracing channels', () => {
  it('report a create from its start to its end', async () => {
    const { gateway } = open();
    const { seen, ended } = listen();
    const { payment } = await gateway.createDeposit(order);
    expect(seen.map(({ channel, step }) => `${channel}:${step}`)).toEqual([
      'create:start',
      'create:end',
      'create:asyncStart',
      'create:asyncEnd',
    ]);
    expect(ended()).toEqual([
      {
        channel: 'create',
        callId,
        operation: 'create',
        baseUrl: 'http://sandbox.localhost',
        reference: 'order-1',
        paymentId: payment.id,
        paymentType: 'DEPOSIT',
        paymentMethod: 'CARD',
        paymentStatus: 'PENDING',
        attempt: 1,
        httpStatus: 201,
        outcome: 'ok',
      },
    ]);
  });

  it.each(['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const)(
    'report to a subscriber of %s alone',
    async step => {
      const channel = tracingChannel('payment-gateway-sdk:lookup')[step];
      const heard: unknown[] = [];
      const hear = (trace: unknown) => void heard.push(trace);
      channel.subscribe(hear);
      onTestFinished(() => void channel.unsubscribe(hear));
      await open()
        .gateway.getPayment(OTHER_ID)
        .catch(() => {});
      expect(heard).toMatchObject([{ operation: 'lookup' }]);
    },
  );

  it('keep the known facts of a call whose error lacks them', async () => {
    const { ended } = listen();
    await open()
      .gateway.getPayment(OTHER_ID, { timeout: -1 })
      .catch(() => {});
    expect(ended()).toMatchObject([{ paymentId: OTHER_ID, code: 'invalid_request' }]);
  });

  it.each([
    ['commit-then-drop', { outcome: 'unknown', code: 'UND_ERR_SOCKET' }],
    ['reject-422', { outcome: 'rejected', code: 'api_error', httpStatus: 422 }],
  ] as const)('report the end of a create after %s, with its error', async (fault, expected) => {
    const { sandbox, gateway } = open();
    const { seen, ended } = listen();
    sandbox.faults.next(fault);
    const error = await gateway.createDeposit(order).catch(error => error);
    const { code } = error;
    expect(seen.map(({ step }) => step)).toContain('error');
    expect(ended()[0]).toMatchObject({ channel: 'create', ...expected, code, error });
  });

  it('report a failed lookup', async () => {
    const { gateway } = open();
    const { ended } = listen();
    const error = await gateway.getPayment(OTHER_ID).catch(error => error);
    expect(ended()).toMatchObject([
      { channel: 'lookup', paymentId: OTHER_ID, outcome: 'failed', code: 'payment_not_found', httpStatus: 404, error },
    ]);
  });

  it('report a callback with its lookup and its answer', async () => {
    const { sandbox, gateway, handler } = open();
    const { payment } = await gateway.createDeposit(order);
    await sandbox.complete(payment.id);
    const { ended } = listen();
    const body = JSON.stringify(payment);
    await handler(new Request('https://shop.example/callbacks', { method: 'POST', body }));
    await handler[HANDLER].process(payment.id, { timeout: 1_000 });
    expect(ended().filter(({ channel }) => channel === 'callback')).toMatchObject([
      { lane: 'unsigned', paymentId: payment.id, paymentStatus: 'COMPLETED', outcome: 'ran', httpStatus: 200 },
      { lane: 'sweep', paymentId: payment.id, paymentStatus: 'COMPLETED', outcome: 'already' },
    ]);
    expect(ended().filter(({ channel }) => channel === 'lookup')).toHaveLength(2);
  });

  it('report the outcome of a callback only at its end', async () => {
    const { sandbox, gateway } = open();
    const { payment } = await gateway.createDeposit(order);
    await sandbox.complete(payment.id);
    const { seen, ended } = listen();
    const outcomes: unknown[] = [];
    const onPayment = () => void outcomes.push(seen.find(({ channel }) => channel === 'callback')?.trace.outcome);
    const body = JSON.stringify(payment);
    const handler = createWebhookHandler({ gateway, onPayment });
    await handler(new Request('https://shop.example/callbacks', { method: 'POST', body }));
    outcomes.push(ended().at(-1)?.outcome);
    expect(outcomes).toEqual([undefined, 'ran']);
  });

  /** What is seen within the call of a create, and after it. */
  async function aroundCreate(look: () => unknown) {
    const { sandbox } = open();
    const seen: unknown[] = [];
    const fetch: typeof sandbox.fetch = (...sent) => {
      seen.push(look());
      return sandbox.fetch(...sent);
    };
    await new GatewayClient({ ...sandbox.clientOptions, fetch }).createDeposit(order);
    return [...seen, look()];
  }
  const { start } = tracingChannel('payment-gateway-sdk:create');

  it('carry the context of a tracer into the work of the call', async () => {
    const storage = new AsyncLocalStorage<string>();
    start.bindStore(storage, () => 'the span of the create');
    onTestFinished(() => void start.unbindStore(storage));
    expect(await aroundCreate(() => storage.getStore())).toEqual(['the span of the create', undefined]);
  });

  it('nest the contexts of several tracers', async () => {
    const storages = ['first', 'second'].map(name => {
      const storage = new AsyncLocalStorage<string>();
      const begin = (trace: unknown) => (trace as CallTrace).runIn(work => storage.run(name, work));
      start.subscribe(begin);
      onTestFinished(() => void start.unsubscribe(begin));
      return storage;
    });
    const seen = await aroundCreate(() => storages.map(storage => storage.getStore()));
    expect(seen).toEqual([
      ['first', 'second'],
      [undefined, undefined],
    ]);
  });

  type Run = CallTrace['runIn'] extends (run: infer Run) => void ? Run : never;
  const fail = throwing(new Error('tracer'));
  it.each<[string, Run]>([
    ['throws', fail],
    ['throws after it has run the call', work => [work(), fail()] as never],
    ['does not run the call', () => undefined as never],
    ['runs the call twice', work => [work(), work()][1] as never],
  ])('do not depend on a tracer that %s', async (_, run) => {
    const begin = (trace: unknown) => (trace as CallTrace).runIn(run);
    start.subscribe(begin);
    onTestFinished(() => void start.unsubscribe(begin));
    const { sandbox, gateway } = open();
    const { payment } = await gateway.createDeposit(order);
    expect(sandbox.payments.map(({ id }) => id)).toEqual([payment.id]);
    expect(sandbox.calls).toHaveLength(1);
  });

  it('report only the creates of an endless upkeep', async () => {
    const { sandbox, gateway, handler } = open();
    await gateway.payOut({}, PAYOUT);
    const { seen } = listen();
    const stop = new AbortController();
    const upkeep = gateway.upkeep({ handler, signal: stop.signal });
    await vi.waitFor(() => expect(sandbox.payments).toHaveLength(1), 60_000);
    stop.abort();
    expect(await upkeep).toMatchObject({ sent: { created: 1 } });
    expect(new Set(seen.map(({ trace }) => trace.operation))).toEqual(new Set(['create']));
  });

  it('report no failure of a payout that was withdrawn before it was sent', async () => {
    const { store, gateway, handler } = open();
    await gateway.payOut({}, PAYOUT);
    const { due } = store;
    store.due = async (...query) => {
      const leased = await due(...query);
      if (leased.rows.length > 0) await gateway.settle(PAYOUT.reference, 'not_created');
      return leased;
    };
    const { ended } = listen();
    expect((await gateway.upkeep({ handler, once: true })).sent).toMatchObject({ created: 0, refused: 0 });
    expect(ended().find(({ operation }) => operation === 'create')?.outcome).toBeUndefined();
  });

  it('contain neither a secret nor customer data', async () => {
    const { sandbox, gateway, handler } = open();
    const { seen } = listen();
    await gateway.createDeposit(order);
    sandbox.faults.next('commit-then-drift');
    await gateway.createDeposit({ ...order, reference: 'order-2' }).catch(() => {});
    await handler(new Request('https://shop.example', { method: 'POST', body: '{"id":"zoe@customer.example"}' }));
    expect(seen.length).toBeGreaterThan(10);
    const text = inspect(seen, { depth: 9, showHidden: true });
    for (const secret of ['zoe@', sandbox.clientOptions.apiKey, sandbox.clientOptions.signKey]) {
      expect(text).not.toContain(secret);
    }
  });
});
