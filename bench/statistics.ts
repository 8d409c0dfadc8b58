// Rounds of measurements, and their figures.

export const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Returns the value below which a share of the values is. */
export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

/** Runs all scenes in turn. The first rounds warm up. */
export async function alternate<T>(
  rounds: number,
  scenes: Readonly<Record<string, () => T | Promise<T>>>,
  warmUps = 1,
): Promise<Map<string, T[]>> {
  const seen = new Map<string, T[]>(Object.keys(scenes).map(name => [name, []]));
  for (let round = -warmUps; round < rounds; round++) {
    for (const [name, scene] of Object.entries(scenes)) {
      const measured = await scene();
      if (round >= 0) seen.get(name)?.push(measured);
    }
  }
  return seen;
}

export interface Figure {
  name: string;
  value: number;
}

/** Returns the median of each scene. */
export const mediansOf = (seen: ReadonlyMap<string, readonly number[]>): Figure[] =>
  [...seen].map(([name, values]) => ({ name, value: median(values) }));

/** The figures of many calls. Times are milliseconds. */
export interface Calls {
  p50: number;
  p99: number;
  perSecond: number;
}

/** Makes calls, so many at once, and measures each. */
export async function timeCalls(
  count: number,
  inFlight: number,
  call: (index: number) => Promise<unknown>,
): Promise<Calls> {
  const times: number[] = [];
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const index = next++;
      const begun = performance.now();
      await call(index);
      times.push(performance.now() - begun);
    }
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: inFlight }, lane));
  const perSecond = count / ((performance.now() - begun) / 1000);
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), perSecond };
}
