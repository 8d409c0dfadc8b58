// What is counted: how long calls take and how they end, callbacks, doubts. No id is on a metric.
import type { CallTrace } from '../telemetry/channels.ts';
import type { OpenTelemetry } from './api.ts';
import { defined } from './spans.ts';

/** A client with a journal. */
export interface DoubtSource {
  /** The creates whose outcome is unknown, those under way among them. */
  inDoubt(): Promise<readonly { underWay: boolean }[]>;
}

/** Seconds: from a lookup nearby to a create that takes all of its time. */
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
    // A journal that does not answer says nothing, least of all that there are none.
    if (lists) result.observe(lists.flat().filter(({ underWay }) => !underWay).length);
  };
  if (sources.length > 0) doubts.addCallback(observe);

  return {
    record(trace: CallTrace): void {
      const { operation, outcome, code, lane, paymentType, paymentMethod } = trace;
      // A plan that another worker had sent already: nothing was done.
      if (outcome === undefined) return;
      const ended = { 'payment.outcome': outcome, 'payment.lane': lane, 'error.type': code };
      const about = { 'payment.operation': operation, 'payment.type': paymentType, 'payment.method': paymentMethod };
      duration.record(trace.durationMs / 1000, defined({ ...about, ...ended }));
      if (operation === 'callback') callbacks.add(1, defined(ended));
    },
    stop: () => doubts.removeCallback(observe),
  };
}
