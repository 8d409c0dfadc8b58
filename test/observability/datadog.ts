// Spans and metrics for an agent with a tracer of its own, such as dd-trace: by Node's tracing channels, without OpenTelemetry.
import { tracingChannel } from 'node:diagnostics_channel';
import type { CallTrace } from 'payment-gateway-sdk/otel';

/** The used part of `dd-trace`: `const tracer = require('dd-trace').init()`. */
interface Tracer {
  startSpan(name: string, options: { childOf?: Span | undefined; tags: object }): Span;
  scope(): { active(): Span | null; activate<T>(span: Span, work: () => T): T };
  dogstatsd: { distribution(name: string, value: number, tags: Record<string, string>): void };
}

interface Span {
  addTags(tags: object): unknown;
  finish(): void;
}

export function reportToDatadog(tracer: Tracer): void {
  const spans = new WeakMap<object, Span>();
  const begin = (trace: CallTrace) => {
    const childOf = tracer.scope().active() ?? undefined;
    const span = tracer.startSpan(`payment.${trace.operation}`, { childOf, tags: { 'span.kind': 'client' } });
    spans.set(trace, span);
    trace.runIn(work => tracer.scope().activate(span, work));
  };
  const end = (trace: CallTrace) => {
    const { operation, outcome = 'failed', code, paymentId, reference, paymentMethod, attempt, durationMs } = trace;
    const span = spans.get(trace);
    span?.addTags({ paymentId, reference, paymentMethod, outcome, code, attempt, error: code !== undefined });
    span?.finish();
    // Ids are not tags, because each would start a new time series.
    tracer.dogstatsd.distribution('payment.operation.duration', durationMs / 1000, { operation, outcome });
  };
  for (const name of ['create', 'lookup', 'callback', 'store']) {
    const { start, asyncEnd } = tracingChannel(`payment-gateway-sdk:${name}`);
    start.subscribe(trace => begin(trace as CallTrace));
    asyncEnd.subscribe(trace => end(trace as CallTrace));
  }
}
