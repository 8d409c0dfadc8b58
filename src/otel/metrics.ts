// The metrics: durations and results of calls, callbacks and doubts, without any id.
import type { CallTrace } from '../telemetry/events.ts';
import type { Meter, Observe } from './api.ts';
import { attributesOf } from './spans.ts';

/** A client with a store. */
export interface DoubtSource {
  /** Lists the creates with an unknown outcome, running ones included. */
  doubts(): Promise<readonly { underWay: boolean }[]>;
}

/** Seconds, from a fast lookup to a create that uses its whole timeout. */
const BOUNDARIES = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function openMetrics(meter: Meter, sources: readonly DoubtSource[]) {
  const duration = meter.createHistogram('payment.operation.duration', {
    description: 'Duration of creates, lookups, callbacks, settlements and upkeep runs, by outcome.',
    unit: 's',
    advice: { explicitBucketBoundaries: BOUNDARIES },
  });
  const callbacks = meter.createCounter('payment.callbacks', {
    description: 'Callbacks, and payments that upkeep processed without one, by result.',
    unit: '{callback}',
  });
  const doubts = meter.createObservableGauge('payment.doubts', {
    description: 'Creates with an unknown outcome, without running ones. An operator must settle those that stay.',
    unit: '{payment}',
  });
  const observe: Observe = async result => {
    const lists = await Promise.all(sources.map(source => source.doubts())).catch(() => undefined);
    // If a store does not answer, the gauge stays empty: 0 would be wrong.
    if (lists) result.observe(lists.flat().filter(({ underWay }) => !underWay).length);
  };
  if (sources.length > 0) doubts.addCallback(observe);

  return {
    record(trace: CallTrace): void {
      const { operation, outcome, durationMs } = trace;
      // Another worker had sent the plan already, so this call did nothing.
      if (outcome === undefined) return;
      const attributes = attributesOf(trace, ['paymentType', 'paymentMethod', 'outcome', 'lane', 'code']);
      duration.record(durationMs / 1000, { 'payment.operation': operation, ...attributes });
      if (operation === 'callback') callbacks.add(1, attributes);
    },
    stop: () => doubts.removeCallback(observe),
  };
}
