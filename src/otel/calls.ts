// Records each call: a span with its work inside, and its duration and result as a metric without any id.
import { VERSION } from '../http/version.ts';
import type { CallTrace } from '../telemetry/events.ts';
import type { Attributes, Meter, OpenTelemetry, Span } from './api.ts';

/** The name and version of the tracer and the meter. */
export const PACKAGE = ['payment-gateway-sdk', VERSION] as const;

/** OpenTelemetry's numbers for the kind of a remote call's span, and for the status of a failure. */
const CLIENT = 2;
const ERROR = 2;

/** The attributes of spans and metrics, by facts. The operation is in a span's name. */
const ATTRIBUTES = {
  callId: 'payment.call_id',
  paymentId: 'payment.id',
  reference: 'payment.reference',
  paymentStatus: 'payment.status',
  paymentType: 'payment.type',
  paymentMethod: 'payment.method',
  lane: 'payment.lane',
  outcome: 'payment.outcome',
  attempt: 'payment.attempts',
  httpStatus: 'http.response.status_code',
  code: 'error.type',
} as const;
type Fact = keyof typeof ATTRIBUTES;

/** Returns the known facts, without 0 attempts. */
const attributesOf = (trace: CallTrace, facts = Object.keys(ATTRIBUTES) as readonly Fact[]): Attributes =>
  Object.fromEntries(facts.flatMap(fact => (trace[fact] ? [[ATTRIBUTES[fact], trace[fact]]] : [])));

function addressOf({ baseUrl = '' }: CallTrace): Attributes {
  const { hostname, port, protocol } = new URL(baseUrl);
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) };
}

export function recordCalls(api: OpenTelemetry, meter: Meter) {
  const tracer = api.trace.getTracer(...PACKAGE);
  const spans = new WeakMap<CallTrace, Span>();
  const duration = meter.createHistogram('payment.operation.duration', {
    description: 'Duration of creates, lookups, callbacks, settlements and upkeep runs, by outcome.',
    unit: 's',
    // From a fast lookup to a create that uses its whole timeout.
    advice: { explicitBucketBoundaries: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] },
  });
  return {
    begin(trace: CallTrace): void {
      const isRemote = ['create', 'lookup'].includes(trace.operation);
      const options = isRemote ? { kind: CLIENT, attributes: addressOf(trace) } : {};
      const span = tracer.startSpan(`payment.${trace.operation}`, options);
      spans.set(trace, span);
      const context = api.trace.setSpan(api.context.active() as never, span as never);
      trace.runIn(work => api.context.with(context as never, work) as ReturnType<typeof work>);
    },

    end(trace: CallTrace): void {
      const { operation, outcome, code, durationMs } = trace;
      const span = spans.get(trace);
      span?.setAttributes(attributesOf(trace));
      // Without the error's message, which may contain anything.
      if (code !== undefined) span?.setStatus({ code: ERROR, message: code });
      span?.end();
      const attributes = attributesOf(trace, ['paymentType', 'paymentMethod', 'outcome', 'lane', 'code']);
      // Without an outcome, another worker has sent the plan.
      if (outcome) duration.record(durationMs / 1000, { 'payment.operation': operation, ...attributes });
    },
  };
}
