// Opens a span for each call, and runs all work of the call within it.
import type { CallTrace } from '../telemetry/events.ts';
import type { Attributes, OpenTelemetry, Span } from './api.ts';

/** Numbers of OpenTelemetry's specification: the kind of a remote call's span, and the status of a failure. */
const CLIENT = 2;
const ERROR = 2;

/** The attributes of spans and metrics, by the facts of a call. The operation is in a span's name. */
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

/** Returns the known ones of these facts, without 0 attempts. */
export const attributesOf = (trace: CallTrace, facts = Object.keys(ATTRIBUTES) as readonly Fact[]): Attributes =>
  Object.fromEntries(facts.flatMap(fact => (trace[fact] ? [[ATTRIBUTES[fact], trace[fact]]] : [])));

export function openSpans(api: OpenTelemetry, tracer: ReturnType<OpenTelemetry['trace']['getTracer']>) {
  const spans = new WeakMap<CallTrace, Span>();
  return {
    begin(trace: CallTrace): void {
      const isRemote = trace.operation === 'create' || trace.operation === 'lookup';
      const options = isRemote ? { kind: CLIENT, attributes: addressOf(trace) } : {};
      const span = tracer.startSpan(`payment.${trace.operation}`, options);
      spans.set(trace, span);
      const context = api.trace.setSpan(api.context.active() as never, span as never);
      trace.runIn(work => api.context.with(context as never, work) as ReturnType<typeof work>);
    },

    end(trace: CallTrace): void {
      const span = spans.get(trace);
      if (!span) return;
      span.setAttributes(attributesOf(trace));
      // Without the error's message, because one thrown by onPayment may contain anything.
      if (trace.code !== undefined) span.setStatus({ code: ERROR, message: trace.code });
      span.end();
    },
  };
}

function addressOf({ baseUrl = '' }: CallTrace): Attributes {
  const { hostname, port, protocol } = new URL(baseUrl);
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) };
}
