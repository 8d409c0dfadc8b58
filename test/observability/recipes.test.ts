// The recipes of docs/observability.md, each run against the sandbox.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createWebhookHandler, GatewayClient, memoryStore } from 'payment-gateway-sdk';
import type { CallTrace } from 'payment-gateway-sdk/otel';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { HANDLER } from '../../src/store/link.ts';
import { expectDocumented } from '../support/documents.ts';
import { CARD } from '../support/fixtures.ts';
import { isInstalled } from '../support/install-suites.ts';
import { isCi, lacks } from '../support/skips.ts';
import { tellDatadog } from './datadog.ts';

const order = { ...CARD, reference: 'order-1', customer: { email: 'zoe@customer.example' } } as const;

afterEach(() => void vi.unstubAllEnvs());

describe.skipIf(lacks(isInstalled('observability'), 'pino, which CI installs'))('with pino', () => {
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

describe('with an agent that has a tracer of its own', () => {
  /** A double of dd-trace, which is too large to install here. */
  function openTracer() {
    let active: object | null = null;
    const spans: { name: string; childOf?: object | undefined; tags: object; isFinished: boolean }[] = [];
    const points: unknown[][] = [];
    const tracer = {
      startSpan(name: string, { childOf, tags }: { childOf?: object | undefined; tags: object }) {
        const span = {
          ...{ name, childOf, tags, isFinished: false },
          addTags: (more: object) => Object.assign(span.tags, more),
          finish: () => {
            span.isFinished = true;
          },
        };
        spans.push(span);
        return span;
      },
      scope: () => ({
        active: () => active as never,
        activate<T>(span: object, work: () => T): T {
          const outer = active;
          active = span;
          try {
            return work();
          } finally {
            active = outer;
          }
        },
      }),
      dogstatsd: { distribution: (...point: unknown[]) => void points.push(point) },
    };
    return { tracer, spans, points };
  }

  it('each call is a span inside the active one, and a duration without ids', async () => {
    const { tracer, spans, points } = openTracer();
    tellDatadog(tracer);
    const { clientOptions, faults } = new Sandbox();
    const gateway = new GatewayClient({ ...clientOptions, retries: 0 });
    const request = tracer.startSpan('web.request', { tags: {} });
    await tracer.scope().activate(request, () => gateway.createDeposit(order));
    faults.next('reject-422');
    await gateway.createDeposit({ ...order, reference: 'order-2' }).catch(() => {});
    const [, first, second] = spans;
    expect(first?.childOf).toBe(request);
    expect(second?.childOf).toBeUndefined();
    expect([first, second]).toMatchObject([
      { name: 'payment.create', isFinished: true, tags: { reference: 'order-1', error: false } },
      { name: 'payment.create', isFinished: true, tags: { outcome: 'rejected', code: 'api_error', error: true } },
    ]);
    expect(points).toEqual([
      ['payment.operation.duration', expect.any(Number), { operation: 'create', outcome: 'ok' }],
      ['payment.operation.duration', expect.any(Number), { operation: 'create', outcome: 'rejected' }],
    ]);
  });
});

it.skipIf(lacks(isCi && isInstalled('observability'), "the types of tracers and loggers: CI's"))(
  'the recipes agree with the types of OpenTelemetry and pino',
  { timeout: 120_000 },
  () => {
    const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
    const project = fileURLToPath(new URL('tsconfig.json', import.meta.url));
    const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' });
    expect([stdout, status]).toEqual(['', 0]);
  },
);

describe('docs/observability.md', () => {
  it.each(['pino', 'datadog'])('shows the tested recipe for %s', name => {
    const code = readFileSync(new URL(`${name}.ts`, import.meta.url), 'utf8')
      .replace(/^\/\/.*\n/, '')
      .trim();
    expectDocumented('observability.md', `${name}.ts`, `\`\`\`typescript\n${code}\n\`\`\``);
  });

  it('names every field of a trace', async () => {
    const traces: CallTrace[] = [];
    const { tracingChannel } = await import('node:diagnostics_channel');
    const keep = (trace: unknown) => void traces.push(trace as CallTrace);
    const channels = ['create', 'callback'].map(name => tracingChannel(`payment-gateway-sdk:${name}`).asyncEnd);
    for (const channel of channels) channel.subscribe(keep);
    const { clientOptions } = new Sandbox();
    const gateway = new GatewayClient({ ...clientOptions, store: memoryStore() });
    await gateway.createDeposit(order);
    await gateway.createDeposit({} as never).catch(() => {});
    await createWebhookHandler({ gateway, onPayment: () => {} })(
      new Request('https://x.example', { method: 'POST', body: '' }),
    );
    for (const channel of channels) channel.unsubscribe(keep);
    const known = traces.flatMap(trace => Object.entries(trace).filter(([, value]) => value !== undefined));
    const fields = new Set([...known.map(([name]) => name), 'durationMs', 'runIn']);
    const page = readFileSync(new URL('../../docs/observability.md', import.meta.url), 'utf8');
    for (const field of fields) expect(page).toContain(`\`${field}\``);
  });
});
