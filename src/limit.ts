// Limits how much work runs concurrently.
import { leaving } from './deadline.ts';

/** Runs work at its turn. @throws the signal's reason, if aborted before */
export type Limited = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** Runs at most `running` works at a time. The others wait in order, at most `longestWait`. */
export function limit(running: number, longestWait?: { ms: number; error: () => Error }): Limited {
  const queue = new Set<() => void>();
  let free = running;
  const wait = async (signal: AbortSignal | undefined) => {
    const { promise, resolve: enter } = Promise.withResolvers<void>();
    queue.add(enter);
    const left = await leaving(promise, { ms: longestWait?.ms, signal });
    // A work that got its place in the meantime uses it, and so gives it back.
    if (left && queue.delete(enter)) throw left === 'aborted' ? signal?.reason : longestWait?.error();
  };
  return async (work, signal) => {
    if (free > 0) free -= 1;
    else await wait(signal);
    try {
      return await work();
    } finally {
      const [next] = queue;
      if (next) {
        queue.delete(next);
        next();
      } else free += 1;
    }
  };
}
