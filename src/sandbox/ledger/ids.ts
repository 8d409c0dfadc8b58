// Makes the sandbox's ids: random ones, or the same ones in every run.
import { createHash, randomUUID } from 'node:crypto';

/** Returns a function that makes one id after another. A seed makes them repeatable. */
export function idsOf(seed: string | undefined): () => string {
  if (seed === undefined) return randomUUID;
  let count = 0;
  return () => {
    count += 1;
    return uuidOf(`${seed} ${count}`);
  };
}

/** Returns a UUID that looks random, but is always the same for a name. */
export function uuidOf(name: string): string {
  const digest = createHash('sha256').update(name).digest('hex');
  const variant = '89ab'.charAt(Number.parseInt(digest.charAt(16), 16) % 4);
  return digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, `$1-$2-4$3-${variant}$4-$5`);
}

/** Returns a function that makes numbers from 0 to 1. A seed makes them repeatable. */
export function randomOf(seed: string | undefined): () => number {
  if (seed === undefined) return Math.random;
  const next = idsOf(`random ${seed}`);
  return () => Number.parseInt(next().slice(0, 8), 16) / 2 ** 32;
}
