// Bounds how much runs at once.

/**
 * Runs at most `running` works at a time, while at most `waiting` others wait for their turn.
 *
 * @throws Error at once, if too many are waiting
 */
export function limit(running: number, waiting = Number.POSITIVE_INFINITY): <T>(work: () => Promise<T>) => Promise<T> {
  const queue: (() => void)[] = [];
  let free = running;
  return async work => {
    if (free > 0) free -= 1;
    else if (queue.length < waiting) await new Promise<void>(resolve => queue.push(resolve));
    else throw new Error(`Too many are waiting: ${running} are running and ${waiting} wait. Try again later.`);
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next) next();
      else free += 1;
    }
  };
}
