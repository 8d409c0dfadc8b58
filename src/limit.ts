// Limits how much work runs concurrently.

/** Runs work at its turn. @throws the signal's reason, if it is aborted before that */
export type Limited = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** Runs at most `running` works at a time. The others wait for their turn, in order, and no longer than `longestWait`. */
export function limit(running: number, longestWait?: { ms: number; error: () => Error }): Limited {
  const queue = new Set<() => void>();
  let free = running;
  const wait = (signal: AbortSignal | undefined) => {
    const { promise, resolve: enter, reject } = Promise.withResolvers<void>();
    // Leaves the queue immediately, so that no place goes to a work that has left.
    const leave = (reason: unknown) => {
      queue.delete(enter);
      reject(reason);
    };
    const abort = () => leave(signal?.reason);
    const timer = longestWait && setTimeout(() => leave(longestWait.error()), longestWait.ms);
    queue.add(enter);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort);
    const clear = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
    promise.then(clear, clear);
    return promise;
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
