// The entry point payment-gateway-sdk/otel: spans and metrics of all clients and handlers in the process.
import { CHANNELS } from '../telemetry/call.ts';
import { type CallTrace, notify } from '../telemetry/events.ts';
import type { Observe, OpenTelemetry } from './api.ts';
import { PACKAGE, recordCalls } from './calls.ts';

export type { CallOutcome, CallTrace } from '../telemetry/events.ts';
export type { Attributes, Gauge, Meter, Observe, OpenTelemetry, Span } from './api.ts';

/** A client with a store. */
export interface DoubtSource {
  /** Lists the creates with an unknown outcome, running ones included. */
  doubts(): Promise<readonly { underWay: boolean }[]>;
}

/** The options of `instrument`. */
export interface InstrumentOptions {
  /** Clients whose doubts the gauge `payment.doubts` counts at each collection, one of each scope. @default [] */
  doubtsOf?: readonly DoubtSource[] | undefined;
}

/**
 * Records spans and metrics of all clients and handlers in this process, until you call the returned function. Only
 * spans contain payment ids and the merchant's references. Neither spans nor metrics contain customer data.
 *
 * @param api your own `@opentelemetry/api`
 * @example
 * import * as opentelemetry from '@opentelemetry/api';
 *
 * const stop = instrument(opentelemetry, { doubtsOf: [gateway] });
 */
export function instrument(api: OpenTelemetry, { doubtsOf = [] }: InstrumentOptions = {}): () => void {
  const meter = api.metrics.getMeter(...PACKAGE);
  const { begin, end } = recordCalls(api, meter);
  // An error of a subscriber would end the process.
  const subscribers = {
    start: (trace: CallTrace) => notify(begin, trace),
    asyncEnd: (trace: CallTrace) => notify(end, trace),
  };
  const channels = new Set(Object.values(CHANNELS));
  const gauge = meter.createObservableGauge('payment.doubts', {
    description: 'Creates with an unknown outcome, without running ones. An operator must settle those that stay.',
    unit: '{payment}',
  });
  const observe: Observe = async result => {
    const lists = await Promise.all(doubtsOf.map(source => source.doubts())).catch(() => undefined);
    // If a store does not answer, the gauge stays empty: 0 would be wrong.
    if (lists) result.observe(lists.flat().filter(({ underWay }) => !underWay).length);
  };
  if (doubtsOf.length > 0) gauge.addCallback(observe);
  for (const channel of channels) channel.subscribe(subscribers as never);
  return () => {
    for (const channel of channels) channel.unsubscribe(subscribers as never);
    gauge.removeCallback(observe);
  };
}
