// The suites' interface to a test runner, and their gates and seeded randomness.

/** Registers a test: `test` or `it` of Vitest, Jest, node:test and their like. */
export type TestFunction = (name: string, run: () => Promise<void>) => unknown;

/** Makes a promise that the test resolves. */
export const gate = () => Promise.withResolvers<void>();

/** Makes a generator of numbers from 0 to 1 that repeats the same sequence for a seed. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Picks an item with such a generator. */
export const pick = <T>(random: () => number, items: readonly T[]): T =>
  items[Math.floor(random() * items.length)] as T;
