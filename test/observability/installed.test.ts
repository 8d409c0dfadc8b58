// The recipes of docs/observability.md with OpenTelemetry's own SDK and pino: the spans, metrics and lines that an operator sees.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { createWebhookHandler, GatewayClient, memoryStore } from 'payment-gateway-sdk';
import { instrument } from 'payment-gateway-sdk/otel';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { HANDLER } from '../../src/upkeep/handler-link.ts';
import { CARD } from '../support/fixtures.ts';
import { isInstalled } from '../support/install.ts';
import { lacks } from '../support/skips.ts';

const isMissing = lacks(isInstalled('pino'), 'OpenTelemetry and pino: npm install in test/tools failed');
const LIMITS = { timeout: 5_000 };
const order = { ...CARD, reference: 'order-1', customer: { email: 'zoe@customer.example' } } as const;

describe.skipIf(isMissing)('with OpenTelemetry', () => {
  let api: typeof import('@opentelemetry/api');
  let ended: () => ReadableSpan[];
  let scrape: () => Promise<string>;
  let openMeters: () => void;
  let sandbox: Sandbox;
  let gateway: GatewayClient;
  let stop: () => void;
  let serverSpan: (work: () => Promise<unknown>) => Promise<unknown>;
  let clear: () => void;

  beforeAll(async () => {
    api = await import('@opentelemetry/api');
    const { AsyncLocalStorageContextManager } = await import('@opentelemetry/context-async-hooks');
    const { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } = await import('@opentelemetry/sdk-trace');
    const { MeterProvider } = await import('@opentelemetry/sdk-metrics');
    const { PrometheusExporter, PrometheusSerializer } = await import('@opentelemetry/exporter-prometheus');
    api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const exporter = new InMemorySpanExporter();
    const spans = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
    api.trace.setGlobalTracerProvider(spans);
    openMeters = () => {
      const reader = new PrometheusExporter({ preventServerStart: true });
      api.metrics.disable();
      api.metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
      scrape = async () => {
        const { resourceMetrics, errors } = await reader.collect();
        expect(errors).toEqual([]);
        return new PrometheusSerializer().serialize(resourceMetrics);
      };
    };
    ended = () => exporter.getFinishedSpans();
    clear = () => exporter.reset();
    const tracer = api.trace.getTracer('the shop');
    serverSpan = work => tracer.startActiveSpan('POST /checkout', span => work().finally(() => span.end()));
  });
  beforeEach(() => {
    openMeters();
    sandbox = new Sandbox();
    gateway = new GatewayClient({ ...sandbox.clientOptions, store: memoryStore(), retries: 1 });
    stop = instrument(api, { doubtsOf: [gateway] });
  });
  afterEach(() => {
    stop();
    clear();
  });

  const named = (name: string) => ended().filter(span => span.name === name);

  it('a create is a client span inside the span of its request, and its replay has a lookup inside', async () => {
    await serverSpan(() => gateway.createDeposit(order));
    const [create] = named('payment.create');
    const [server] = named('POST /checkout');
    expect(create?.kind).toBe(api.SpanKind.CLIENT);
    expect(create?.parentSpanContext?.spanId).toBe(server?.spanContext().spanId);
    expect(create?.attributes).toMatchObject({ 'server.port': 80, 'payment.reference': 'order-1' });
    await gateway.createDeposit(order);
    const [, replayed] = named('payment.create');
    expect(replayed?.attributes['payment.outcome']).toBe('replayed');
    expect(named('payment.lookup')[0]?.parentSpanContext?.spanId).toBe(replayed?.spanContext().spanId);
  });

  it('the work of a callback is inside its span', async () => {
    const { payment } = await gateway.createDeposit(order);
    await sandbox.complete(payment.id);
    let within: string | undefined;
    const onPayment = () => {
      within = api.trace.getActiveSpan()?.spanContext().spanId;
    };
    await createWebhookHandler({ gateway, onPayment })[HANDLER].process(payment.id, LIMITS);
    const [callback] = named('payment.callback');
    expect(callback?.kind).toBe(api.SpanKind.INTERNAL);
    expect(within).toBe(callback?.spanContext().spanId);
    expect(named('payment.lookup').at(-1)?.parentSpanContext?.spanId).toBe(within);
    expect(callback?.attributes).toMatchObject({ 'payment.outcome': 'ran', 'payment.lane': 'sweep' });
  });

  it('the dashboard uses existing metrics and labels', async () => {
    const dashboard = readFileSync(new URL('../../docs/observability/grafana-dashboard.json', import.meta.url), 'utf8');
    const expressions = [...dashboard.matchAll(/"expr": "((?:\\"|[^"])*)"/g)].map(([, expr = '']) =>
      JSON.parse(`"${expr}"`),
    );
    expect(expressions.length).toBeGreaterThan(5);
    const handler = createWebhookHandler({ gateway, onPayment: () => {} });
    const { payment } = await gateway.createDeposit(order);
    await handler[HANDLER].process(payment.id, LIMITS);
    await handler(new Request('https://shop.example/callbacks', { method: 'POST', body: 'nope' }));
    sandbox.faults.next('commit-then-drop');
    await gateway.createDeposit({ ...order, reference: 'order-2' }, { timeout: 1_000 }).catch(() => {});
    await expect.poll(scrape).toMatch(/^payment_doubts\S* 1$/m);
    const text = await scrape();
    expect(text).toMatch(/_duration_bucket\{[^}]*payment_outcome="unknown"[^}]*le="60"\}/);
    expect(text).not.toMatch(/order-1|order-2|zoe@|[0-9a-f]{8}-[0-9a-f]{4}-/);
    const series = text.split('\n').filter(line => line !== '' && !line.startsWith('#'));
    const names = new Set(series.map(line => line.replace(/[{ ].*/, '')));
    const labels = new Set([...text.matchAll(/[{,](\w+)="/g)].map(([, label]) => label));
    for (const expr of expressions) {
      const patterns = [...expr.matchAll(/__name__=~"([^"]*)"/g)].map(([, pattern = '']) => new RegExp(`^${pattern}$`));
      const plain = expr.replace(/\{[^}]*\}/g, '').match(/\bpayment_doubts\w*/g) ?? [];
      for (const pattern of patterns)
        expect(
          [...names].some(name => pattern.test(name)),
          expr,
        ).toBe(true);
      for (const name of plain) expect(names, expr).toContain(name);
      expect(patterns.length + plain.length, expr).toBe(1);
      for (const [, label] of expr.matchAll(/[{,]\s*([a-z]\w+)(?:=|!=|=~|!~)"/g)) expect(labels, expr).toContain(label);
      for (const [, by = ''] of expr.matchAll(/by \(([^)]*)\)/g)) {
        for (const label of by.split(/,\s*/)) expect(labels, expr).toContain(label);
      }
    }
  });
});

describe.skipIf(isMissing)('with pino', () => {
  afterEach(() => void vi.unstubAllEnvs());

  it('each event is a line with a level', async () => {
    const sandbox = new Sandbox();
    const server = await sandbox.listen();
    vi.stubEnv('PAYMENT_GATEWAY_URL', server.url);
    vi.stubEnv('PAYMENT_GATEWAY_API_KEY', sandbox.clientOptions.apiKey);
    vi.stubEnv('PAYMENT_GATEWAY_SIGN_KEY', sandbox.clientOptions.signKey);
    vi.stubEnv('LOG_LEVEL', 'debug');
    const lines: { level: number; msg: string; type?: string; callId?: string }[] = [];
    const write = vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
    const { gateway, handler, log } = await import('./pino.ts');
    const stream = log[(await import('pino')).pino.symbols.streamSym as never] as { write(line: string): void };
    vi.spyOn(stream, 'write').mockImplementation(line => void lines.push(JSON.parse(line)));
    const { payment } = await gateway.createDeposit(order);
    sandbox.faults.next('commit-then-drop');
    await gateway.createDeposit({ ...order, reference: 'order-2' }).catch(() => {});
    await handler[HANDLER].process(payment.id, { timeout: 5_000 });
    await server.close();
    write.mockRestore();
    expect(lines.map(({ level, msg }) => `${level} ${msg}`)).toEqual([
      '20 create request',
      '20 create response',
      '30 create success',
      '20 create request',
      '50 create failure',
      '20 lookup request',
      '20 lookup response',
      '30 lookup success',
      '30 payment confirmed',
      '30 callback ran',
    ]);
    expect(JSON.stringify(lines)).not.toContain('zoe@');
  });
});

it.skipIf(isMissing)('the recipes agree with the types of OpenTelemetry and pino', () => {
  const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
  const project = fileURLToPath(new URL('tsconfig.json', import.meta.url));
  const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' });
  expect([stdout, status]).toEqual(['', 0]);
});
