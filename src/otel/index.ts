// The entry point payment-gateway-sdk/otel: spans and metrics of every client and handler in the process.
import { CHANNELS } from '../telemetry/call.ts';
import { type CallTrace, notify } from '../telemetry/events.ts';
import type { OpenTelemetry } from './api.ts';
import { PACKAGE, recordCalls } from './calls.ts';
import { type DoubtSource, observeDoubts } from './doubts.ts';

export type { CallOutcome, CallTrace } from '../telemetry/events.ts';
export type { Attributes, Gauge, Meter, Observe, OpenTelemetry, Span } from './api.ts';
export type { DoubtSource } from './doubts.ts';

/** The options of `instrument`. */
export interface InstrumentOptions {
  /**
   * Clients whose doubts the gauge `payment.doubts` counts at each collection. Pass one client of each scope.
   * @default []
   */
  doubtsOf?: readonly DoubtSource[] | undefined;
}

/**
 * Records spans and metrics of all clients and handlers in this process, until you call the returned function. Only
 * spans contain payment ids and the merchant's references. Neither spans nor metrics contain customer data.
 *
 * @param api your own `@opentelemetry/api`
 * @returns a function that stops it
 * @example
 * import * as opentelemetry from '@opentelemetry/api';
 *
 * const stop = instrument(opentelemetry, { doubtsOf: [gateway] });
 */
export function instrument(api: OpenTelemetry, { doubtsOf = [] }: InstrumentOptions = {}): () => void {
  const meter = api.metrics.getMeter(...PACKAGE);
  const calls = recordCalls(api, meter);
  const stopGauge = observeDoubts(meter, doubtsOf);
  // An error of a subscriber would end the process.
  const subscribers = {
    start: (trace: CallTrace) => notify(calls.begin, trace),
    asyncEnd: (trace: CallTrace) => notify(calls.end, trace),
  };
  const channels = new Set(Object.values(CHANNELS));
  for (const channel of channels) channel.subscribe(subscribers as never);
  return () => {
    for (const channel of channels) channel.unsubscribe(subscribers as never);
    stopGauge();
  };
}
