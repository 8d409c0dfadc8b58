// payment-gateway-sdk/otel over a double of OpenTelemetry's API. test/observability uses OpenTelemetry's own SDK.
import { readFileSync } from 'node:fs';
import { createWebhookHandler, GatewayClient, memoryStore } from 'payment-gateway-sdk';
import { type Attributes, instrument, type Observe } from 'payment-gateway-sdk/otel';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { expect, it, onTestFinished } from 'vitest';
import { HANDLER } from '../../src/upkeep/handler-link.ts';
import { CARD, ID, KEYS, throwing } from '../support/fixtures.ts';
import { json, wire } from '../support/wire.ts';

const { name, version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const order = { ...CARD, reference: 'order-1', customer: { email: 'zoe@customer.example' } } as const;

/** Numbers of OpenTelemetry's specification: SpanKind and StatusCode. Without a kind, a span is internal. */
const CLIENT = 2;
const ERROR = 2;

type Recorder = { record(value: number, attributes?: Attributes): void };

interface SeenSpan {
  name: string;
  options: object | undefined;
  attributes?: Attributes;
  status?: object;
  ends: number;
}

/** A double of OpenTelemetry's API that records its calls. */
function openApi() {
  const opened: unknown[] = [];
  const spans: SeenSpan[] = [];
  const within: unknown[] = [];
  const instruments: Record<string, object | undefined> = {};
  const durations: { value: number; attributes: Attributes | undefined }[] = [];
  const observers = new Set<Observe>();
  const startSpan = (name: string, options?: object) => {
    const span: SeenSpan = { name, options, ends: 0 };
    spans.push(span);
    return {
      setAttributes: (attributes: Attributes) => Object.assign(span, { attributes }),
      setStatus: (status: object) => Object.assign(span, { status }),
      end: () => void Object.assign(span, { ends: span.ends + 1 }),
    };
  };
  const creates =
    <T>(instrument: T) =>
    (name: string, options?: object) => {
      instruments[name] = options;
      return instrument;
    };
  const meter = {
    createHistogram: creates({ record: (value, attributes) => void durations.push({ value, attributes }) } as Recorder),
    createObservableGauge: creates({
      addCallback: (observe: Observe) => void observers.add(observe),
      removeCallback: (observe: Observe) => void observers.delete(observe),
    }),
  };
  const opens =
    <T>(made: T) =>
    (...asked: unknown[]) => {
      opened.push(asked);
      return made;
    };
  const api: Parameters<typeof instrument>[0] = {
    trace: { getTracer: opens({ startSpan }), setSpan: context => [context, 'with the span'] },
    context: {
      active: () => 'the active context',
      with: (context, work) => {
        within.push(context);
        return work();
      },
    },
    metrics: { getMeter: opens(meter) },
  };
  /** What the gauge is told now. */
  const observed = async () => {
    const values: number[] = [];
    for (const observe of observers) await observe({ observe: value => void values.push(value) });
    return values;
  };
  return { api, opened, spans, within, instruments, durations, observers, observed };
}

function open(options: Parameters<typeof instrument>[1] = {}) {
  const seen = openApi();
  const stop = instrument(seen.api, options);
  onTestFinished(stop);
  const sandbox = new Sandbox();
  const store = memoryStore();
  const gateway = new GatewayClient({ ...sandbox.clientOptions, store, retries: 0 });
  const handler = createWebhookHandler({ gateway, onPayment: () => {}, onError: () => {} });
  return { ...seen, stop, sandbox, store, gateway, handler };
}

const ignore = () => {};

it('a tracer and a meter have the name and the version of the package', () => {
  const { opened } = open();
  expect(opened).toEqual([
    [name, version],
    [name, version],
  ]);
});

it('a create is one span of a client, with the facts of its end', async () => {
  const { gateway, spans, within } = open();
  const { payment } = await gateway.createDeposit(order);
  // No attribute may be undefined.
  expect(spans).toStrictEqual([
    {
      name: 'payment.create',
      options: { kind: CLIENT, attributes: { 'server.address': 'sandbox.localhost', 'server.port': 80 } },
      attributes: {
        'payment.call_id': expect.stringMatching(/^[\da-f-]{36}$/),
        'payment.id': payment.id,
        'payment.reference': 'order-1',
        'payment.status': 'PENDING',
        'payment.type': 'DEPOSIT',
        'payment.method': 'CARD',
        'payment.outcome': 'ok',
        'payment.attempts': 1,
        'http.response.status_code': 201,
      },
      ends: 1,
    },
  ]);
  expect(within).toEqual([['the active context', 'with the span']]);
});

it.each([
  ['https://gateway.example', 443],
  ['https://gateway.example/v1', 443],
  ['https://gateway.example:8443', 8443],
])('a lookup at %s is a span with the port %i', async (baseUrl, port) => {
  const { spans } = open();
  const { fetch } = wire(json('', 404));
  await new GatewayClient({ ...KEYS, baseUrl, fetch }).getPayment(ID).catch(ignore);
  const attributes = { 'server.address': 'gateway.example', 'server.port': port };
  expect(spans).toMatchObject([
    {
      name: 'payment.lookup',
      options: { kind: CLIENT, attributes },
      attributes: { 'payment.id': ID, 'payment.outcome': 'failed', 'error.type': 'payment_not_found' },
      status: { code: ERROR, message: 'payment_not_found' },
      ends: 1,
    },
  ]);
});

it('callbacks, sweeps, upkeeps and settlements are internal spans', async () => {
  const { gateway, handler, sandbox, spans } = open();
  const { payment } = await gateway.createDeposit(order);
  await sandbox.complete(payment.id);
  await handler(new Request('https://shop.example/callbacks', { method: 'POST', body: JSON.stringify(payment) }));
  await handler[HANDLER].process(payment.id, { timeout: 1_000 });
  await gateway.upkeep({ handler, once: true });
  await gateway.settle('order-2', payment.id).catch(ignore);
  const local = spans.filter(span => !['payment.create', 'payment.lookup'].includes(span.name));
  expect(local.map(span => [span.name, span.options])).toStrictEqual([
    ['payment.callback', {}],
    ['payment.callback', {}],
    ['payment.upkeep', {}],
    ['payment.settle', {}],
  ]);
  expect(local[0]?.attributes).toEqual({
    'payment.call_id': expect.any(String),
    'payment.id': payment.id,
    'payment.status': 'COMPLETED',
    'payment.lane': 'unsigned',
    'payment.outcome': 'ran',
    'http.response.status_code': 200,
  });
  expect(local[1]?.attributes).toMatchObject({ 'payment.lane': 'sweep', 'payment.outcome': 'already' });
});

it('the metrics have descriptions and units', () => {
  const { instruments } = open();
  const description = expect.stringMatching(/^[A-Z].+\.$/);
  // OpenTelemetry's semantic conventions: durations are in seconds.
  const explicitBucketBoundaries = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
  expect(instruments).toEqual({
    'payment.operation.duration': { description, unit: 's', advice: { explicitBucketBoundaries } },
    'payment.doubts': { description, unit: '{payment}' },
  });
});

it('calls are counted with their seconds and result', async () => {
  const { gateway, handler, durations } = open();
  const began = performance.now();
  await gateway.createDeposit(order);
  const longest = (performance.now() - began) / 1000;
  await handler(new Request('https://shop.example/callbacks', { method: 'POST', body: 'nope' }));
  expect(durations.map(({ attributes }) => attributes)).toStrictEqual([
    {
      'payment.operation': 'create',
      'payment.type': 'DEPOSIT',
      'payment.method': 'CARD',
      'payment.outcome': 'ok',
    },
    {
      'payment.operation': 'callback',
      'payment.outcome': 'refused',
      'payment.lane': 'unsigned',
      'error.type': 'not_json',
    },
  ]);
  expect(durations[0]?.value).toBeGreaterThan(0);
  expect(durations[0]?.value).toBeLessThanOrEqual(longest + 0.001);
});

it('doubts are counted over all given clients, without running creates', async () => {
  const doubts = (...underWay: boolean[]) => ({ doubts: async () => underWay.map(underWay => ({ underWay })) });
  const { observed, stop } = open({ doubtsOf: [doubts(true, false), doubts(false, false)] });
  expect(await observed()).toEqual([3]);
  stop();
  expect(await observed()).toEqual([]);
});

it('doubts are not read without clients, and have no value if a store does not answer', async () => {
  expect(open().observers.size).toBe(0);
  const dead = { doubts: () => Promise.reject(new Error('db')) };
  const { observers, observed } = open({ doubtsOf: [dead] });
  expect([observers.size, await observed()]).toEqual([1, []]);
});

it('nothing is recorded after it was stopped', async () => {
  const { gateway, handler, stop, spans, durations } = open();
  stop();
  await gateway.createDeposit(order);
  await handler[HANDLER].process(ID, { timeout: 1_000 }).catch(ignore);
  await gateway.upkeep({ handler, once: true });
  expect([spans, durations]).toEqual([[], []]);
});

it('an API that throws does not affect a create', async () => {
  const { api } = openApi();
  const failing = throwing(new Error('tracer'));
  const histogram = { createHistogram: () => ({ record: failing }) };
  const metrics = { getMeter: () => ({ ...api.metrics.getMeter('x'), ...histogram }) };
  onTestFinished(
    instrument({ ...api, trace: { getTracer: () => ({ startSpan: failing }), setSpan: failing }, metrics }),
  );
  const gateway = new GatewayClient(new Sandbox().clientOptions);
  await expect(gateway.createDeposit(order)).resolves.toHaveProperty('payment.reference', 'order-1');
});
