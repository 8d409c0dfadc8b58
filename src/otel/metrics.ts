// The metrics: durations and results of calls, callbacks and doubts, without any id.
import type { CallTrace } from '../telemetry/channels.ts';
import type { OpenTelemetry } from './api.ts';
import { defined } from './spans.ts';

/** A client with a journal. */
export interface DoubtSource {
  /** Lists the creates with an unknown outcome, running ones included. */
  inDoubt(): Promise<readonly { underWay: boolean }[]>;
}

/** Seconds, from a fast lookup to a create that uses its whole timeout. */
const BOUNDARIES = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function openMetrics(meter: ReturnType<OpenTelemetry['metrics']['getMeter']>, sources: readonly DoubtSource[]) {
  const duration = meter.createHistogram('payment.operation.duration', {
    description: 'How long creates, lookups, callbacks, settlements, sweeps and drains take, by how they end.',
    unit: 's',
    advice: { explicitBucketBoundaries: BOUNDARIES },
  });
  const callbacks = meter.createCounter('payment.callbacks', {
    description: 'Callbacks, and payments that a sweep processed in their place, by what became of them.',
    unit: '{callback}',
  });
  const doubts = meter.createObservableGauge('payment.doubts', {
    description: 'Creates whose outcome is unknown, those under way aside. Somebody must settle what stays.',
    unit: '{payment}',
  });
  const observe = async (result: { observe(value: number): void }): Promise<void> => {
    const lists = await Promise.all(sources.map(source => source.inDoubt())).catch(() => undefined);
    // If a journal does not answer, the gauge stays empty: 0 would be wrong.
    if (lists) result.observe(lists.flat().filter(({ underWay }) => !underWay).length);
  };
  if (sources.length > 0) doubts.addCallback(observe);

  return {
    record(trace: CallTrace): void {
      const { operation, outcome, code, lane, paymentType, paymentMethod } = trace;
      // Another worker had sent the plan already, so this call did nothing.
      if (outcome === undefined) return;
      const ended = { 'payment.outcome': outcome, 'payment.lane': lane, 'error.type': code };
      const about = { 'payment.operation': operation, 'payment.type': paymentType, 'payment.method': paymentMethod };
      duration.record(trace.durationMs / 1000, defined({ ...about, ...ended }));
      if (operation === 'callback') callbacks.add(1, defined(ended));
    },
    stop: () => doubts.removeCallback(observe),
  };
}
