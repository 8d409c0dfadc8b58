// The gauge of creates with an unknown outcome.
import type { Meter, Observe } from './api.ts';

/** A client with a store. */
export interface DoubtSource {
  /** Lists the creates with an unknown outcome, running ones included. */
  doubts(): Promise<readonly { underWay: boolean }[]>;
}

/** Counts the doubts at each collection. @returns a function that stops it */
export function observeDoubts(meter: Meter, sources: readonly DoubtSource[]): () => void {
  const gauge = meter.createObservableGauge('payment.doubts', {
    description: 'Creates with an unknown outcome, without running ones. An operator must settle those that stay.',
    unit: '{payment}',
  });
  const observe: Observe = async result => {
    const lists = await Promise.all(sources.map(source => source.doubts())).catch(() => undefined);
    // If a store does not answer, the gauge stays empty: 0 would be wrong.
    if (lists) result.observe(lists.flat().filter(({ underWay }) => !underWay).length);
  };
  if (sources.length > 0) gauge.addCallback(observe);
  return () => gauge.removeCallback(observe);
}
