// Opens a span for each call, and runs all work of the call within it.
import type { CallTrace } from '../telemetry/channels.ts';
import { type Attributes, CLIENT, ERROR, INTERNAL, type OpenTelemetry, type Span } from './api.ts';

/** Whether it calls the gateway. The rest happens here. */
const isRemote = ({ operation }: CallTrace) => operation === 'create' || operation === 'lookup';

export function openSpans(api: OpenTelemetry, version: string) {
  const tracer = api.trace.getTracer('payment-gateway-sdk', version);
  const spans = new WeakMap<CallTrace, Span>();
  return {
    begin(trace: CallTrace): void {
      const kind = isRemote(trace) ? CLIENT : INTERNAL;
      const span = tracer.startSpan(`payment.${trace.operation}`, { kind, attributes: attributesAtStart(trace) });
      spans.set(trace, span);
      const context = api.trace.setSpan(api.context.active() as never, span as never);
      trace.runIn(work => api.context.with(context as never, work) as ReturnType<typeof work>);
    },

    end(trace: CallTrace): void {
      const span = spans.get(trace);
      if (!span) return;
      span.setAttributes(attributesAtEnd(trace));
      // Without the error's message, because one thrown by onPayment may contain anything.
      if (trace.code !== undefined) span.setStatus({ code: ERROR, message: trace.code });
      span.end();
    },
  };
}

function attributesAtStart(trace: CallTrace): Attributes {
  const { baseUrl, lane } = trace;
  if (!isRemote(trace) || baseUrl === undefined) return defined({ 'payment.lane': lane });
  const { hostname, port, protocol } = new URL(baseUrl);
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) };
}

const attributesAtEnd = (trace: CallTrace): Attributes =>
  defined({
    'payment.call_id': trace.callId,
    'payment.id': trace.paymentId,
    'payment.reference': trace.reference,
    'payment.status': trace.paymentStatus,
    'payment.type': trace.paymentType,
    'payment.method': trace.paymentMethod,
    'payment.lane': trace.lane,
    'payment.outcome': trace.outcome,
    'payment.attempts': isRemote(trace) ? trace.attempt : undefined,
    'http.response.status_code': trace.httpStatus,
    'error.type': trace.code,
  });

/** Returns only the known values. */
export const defined = (values: Record<string, string | number | undefined>): Attributes =>
  Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string | number] => entry[1] !== undefined),
  );
