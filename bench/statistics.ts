// Rounds of measurements, and the lines of the table that they become.

export const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Returns the value below which a share of the values is. */
export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

/** A line of the table: the same measurement in each round, next to one of another contender. */
export interface Line {
  what: string;
  unit: string;
  ours: readonly number[];
  /** The contender, and its measurements in the same rounds. */
  of?: string;
  theirs?: readonly number[];
  /** The target for the ratio, or without a contender for the figure. */
  most?: number;
  least?: number;
}

/** Percent between the highest and the lowest round. */
const spreadOf = (values: readonly number[]): number =>
  (100 * (Math.max(...values) - Math.min(...values))) / Math.abs(median(values));

const LARGEST_SPREAD = 15;

/** Writes a line: figures are medians, and a ratio is the median of the rounds' ratios. */
export function cellsOf({ what, unit, ours, of = '', theirs, most, least }: Line): string[] {
  const figure = (values: readonly number[]) => `${Number(median(values).toPrecision(3))} ${unit}`;
  const judged = theirs ? ours.map((value, round) => value / (theirs[round] ?? Number.NaN)) : ours;
  const value = median(judged);
  const spread = Math.round(spreadOf(judged));
  const isMissed = value > (most ?? Number.POSITIVE_INFINITY) || value < (least ?? Number.NEGATIVE_INFINITY);
  const goal = most === undefined ? (least === undefined ? '' : `≥ ${least}`) : `≤ ${most}`;
  return [
    ...[what, figure(ours), of && `${of}: ${figure(theirs ?? [])}`, theirs ? value.toFixed(2) : ''],
    ...[isMissed ? `${goal} **missed**` : goal, spread > LARGEST_SPREAD ? `${spread}% (!)` : `${spread}%`],
  ];
}

/** Rounds to warm up, because V8 still compiles a create during the first ten thousand. */
const WARM_UPS = 5;

/** Runs all scenes in turn. The first rounds warm up. */
export async function alternate<T>(
  rounds: number,
  scenes: Readonly<Record<string, () => T | Promise<T>>>,
  warmUps = WARM_UPS,
): Promise<(name: string) => T[]> {
  const seen = new Map<string, T[]>(Object.keys(scenes).map(name => [name, []]));
  for (let round = -warmUps; round < rounds; round++) {
    for (const [name, scene] of Object.entries(scenes)) {
      const measured = await scene();
      if (round >= 0) seen.get(name)?.push(measured);
    }
  }
  return name => seen.get(name) ?? [];
}

/** The figures of many calls. `p50` is in milliseconds. */
export interface Calls {
  p50: number;
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
  return { p50: quantile(times, 0.5), perSecond: count / ((performance.now() - begun) / 1000) };
}
