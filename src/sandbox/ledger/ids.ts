// Makes the sandbox's ids and random numbers. A seed makes them repeatable.
import { createHash, randomUUID } from 'node:crypto';

export function idsOf(seed: string | undefined): () => string {
  if (seed === undefined) return randomUUID;
  let count = 0;
  return () => {
    count += 1;
    return uuidOf(`${seed} ${count}`);
  };
}

/** Returns the UUID of a name, always the same. */
export function uuidOf(name: string): string {
  const digest = createHash('sha256').update(name).digest('hex');
  const variant = '89ab'[Number(`0x${digest[16]}`) % 4];
  return digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, `$1-$2-4$3-${variant}$4-$5`);
}

export function randomOf(seed: string | undefined): () => number {
  if (seed === undefined) return Math.random;
  const next = idsOf(`random ${seed}`);
  return () => Number.parseInt(next().slice(0, 8), 16) / 2 ** 32;
}
