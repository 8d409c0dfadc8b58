// What the suites need of a test runner.

/** Registers a test: `test` or `it` of Vitest, Jest, node:test and their like. */
export type TestFunction = (name: string, run: () => Promise<void>) => unknown;

/** Something that is waited for, and let go. */
export const gate = () => Promise.withResolvers<void>();

/** A generator of numbers from 0 to 1 that plays the same every time. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** One of some, by such a generator. */
export const pick = <T>(random: () => number, items: readonly T[]): T =>
  items[Math.floor(random() * items.length)] as T;
