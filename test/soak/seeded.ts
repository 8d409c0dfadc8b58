// Random numbers that are the same for the same seed.
import { createHash } from 'node:crypto';

/** Numbers from 0 to 1. @param parts of the seed: each stream of numbers has its own */
export function seeded(...parts: readonly (string | number)[]): () => number {
  let state = createHash('sha256').update(parts.join('/')).digest().readUInt32LE();
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const between = (random: () => number, least: number, most: number): number =>
  least + Math.floor(random() * (most - least + 1));
