// Limits how much work runs concurrently.

/** Runs work at its turn. @throws the signal's reason, if it is aborted before that */
export type Limited = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** Runs at most `running` works at a time. The others wait for their turn, in order, and no longer than `longestWait`. */
export function limit(running: number, longestWait?: { ms: number; error: () => Error }): Limited {
  const queue = new Set<() => void>();
  let free = running;
  const wait = (signal: AbortSignal | undefined) =>
    new Promise<void>((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const end = (settle: () => void) => () => {
        queue.delete(enter);
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
        settle();
      };
      const enter = end(resolve);
      const leave = end(() => reject(signal?.reason));
      queue.add(enter);
      if (longestWait)
        timer = setTimeout(
          end(() => reject(longestWait.error())),
          longestWait.ms,
        );
      if (signal?.aborted) leave();
      else signal?.addEventListener('abort', leave);
    });
  return async (work, signal) => {
    if (free > 0) free -= 1;
    else await wait(signal);
    try {
      return await work();
    } finally {
      const [next] = queue;
      if (next) next();
      else free += 1;
    }
  };
}
