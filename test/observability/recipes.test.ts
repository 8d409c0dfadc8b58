// The recipes of docs/observability.md, run against the sandbox. installed.test.ts has those of pino.
import { readFileSync } from 'node:fs';
import { createWebhookHandler, GatewayClient, memoryStore } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it } from 'vitest';
import type { CallTrace } from '../../src/telemetry/events.ts';
import { expectDocumented } from '../support/documents.ts';
import { CARD } from '../support/fixtures.ts';
import { reportToDatadog } from './datadog.ts';

const order = { ...CARD, reference: 'order-1', customer: { email: 'zoe@customer.example' } } as const;

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
    reportToDatadog(tracer);
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
