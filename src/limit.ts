// Bounds how much runs at once.

/** Runs work at its turn. @throws the signal's reason, if it is aborted before that */
export type Limited = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/**
 * Runs at most `running` works at a time, while at most `waiting` others wait for their turn.
 *
 * @throws Error at once, if too many are waiting
 */
export function limit(running: number, waiting = Number.POSITIVE_INFINITY): Limited {
  const queue = new Set<() => void>();
  let free = running;
  const wait = (signal: AbortSignal | undefined) =>
    new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => () => {
        queue.delete(enter);
        signal?.removeEventListener('abort', leave);
        settle();
      };
      const enter = end(resolve);
      const leave = end(() => reject(signal?.reason));
      queue.add(enter);
      signal?.addEventListener('abort', leave, { once: true });
    });
  return async (work, signal) => {
    if (free > 0) free -= 1;
    else if (queue.size < waiting) await wait(signal);
    else throw new Error(`Too much at once: ${running} are running and ${waiting} wait. Try again later.`);
    try {
      return await work();
    } finally {
      const [next] = queue;
      if (next) next();
      else free += 1;
    }
  };
}
