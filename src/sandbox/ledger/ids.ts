// The ids that the sandbox gives out: random, or the same in every run.
import { createHash, randomUUID } from 'node:crypto';

/** A function that gives one id after another; with a seed, the same ones every time. */
export function idsOf(seed: string | undefined): () => string {
  if (seed === undefined) return randomUUID;
  let count = 0;
  return () => {
    count += 1;
    return uuidOf(`${seed} ${count}`);
  };
}

/** A UUID that looks random and always is the same for the same name. */
export function uuidOf(name: string): string {
  const digest = createHash('sha256').update(name).digest('hex');
  const variant = '89ab'.charAt(Number.parseInt(digest.charAt(16), 16) % 4);
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `4${digest.slice(13, 16)}`,
    `${variant}${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-');
}

/** Numbers from 0 to 1; with a seed, the same ones every time. */
export function randomOf(seed: string | undefined): () => number {
  if (seed === undefined) return Math.random;
  const next = idsOf(`random ${seed}`);
  return () => Number.parseInt(next().slice(0, 8), 16) / 2 ** 32;
}
