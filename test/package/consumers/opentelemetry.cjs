// A merchant's app with OpenTelemetry, as its guide sets it up: before anything else is loaded.
const assert = require('node:assert/strict');
const http = require('node:http');
const { once } = require('node:events');
const { context, propagation, trace } = require('@opentelemetry/api');
const { AsyncLocalStorageContextManager } = require('@opentelemetry/context-async-hooks');
const { W3CTraceContextPropagator } = require('@opentelemetry/core');
const { registerInstrumentations } = require('@opentelemetry/instrumentation');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } = require('@opentelemetry/sdk-trace');

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
trace.setGlobalTracerProvider(provider);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
propagation.setGlobalPropagator(new W3CTraceContextPropagator());
registerInstrumentations({ instrumentations: [new HttpInstrumentation()] });

const { GatewayClient } = require('payment-gateway-sdk');

const id = '7b1f3c52-9a1e-4a7b-8d43-2f6f0d1c9e10';
const result = { id, paymentStatus: 'PENDING', paymentType: 'DEPOSIT', amount: 25.5, currency: 'EUR' };
const statuses = [201, 503, 503, 200];
const traces = [];
const server = http.createServer((request, response) => {
  traces.push(request.headers.traceparent?.split('-')[1]);
  request.resume().on('end', () => {
    response.writeHead(statuses.shift() ?? 500, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ result }));
  });
});

async function main() {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${server.address().port}`;
  const gateway = new GatewayClient({ baseUrl, apiKey: 'k', signKey: 's' });
  const tracer = provider.getTracer('shop');
  await tracer.startActiveSpan('checkout', async checkout => {
    await gateway.createDeposit({
      paymentMethod: 'CARD',
      amount: 25.5,
      currency: 'EUR',
      webhookUrl: 'https://shop.example/',
    });
    await gateway.getPayment(id);
    checkout.end();
  });
  server.close();

  const spans = exporter.getFinishedSpans();
  const checkout = spans.find(span => span.name === 'checkout');
  const sent = spans.filter(span => span.kind === 2);
  const seen = sent.map(span => [
    span.attributes['http.request.method'] ?? span.attributes['http.method'],
    span.attributes['http.response.status_code'] ?? span.attributes['http.status_code'],
    span.parentSpanContext.spanId === checkout.spanContext().spanId,
    span.spanContext().traceId,
  ]);
  const { traceId } = checkout.spanContext();
  assert.deepEqual(seen, [
    ['POST', 201, true, traceId],
    ['GET', 503, true, traceId],
    ['GET', 503, true, traceId],
    ['GET', 200, true, traceId],
  ]);
  assert.deepEqual(traces, [traceId, traceId, traceId, traceId]);
  console.log('consumer: done');
}
main();
