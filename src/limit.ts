// Bounds how much runs at once.

/**
 * Runs at most `running` works at a time, while at most `waiting` others stand in line.
 *
 * @throws Error at once, if the line is full
 */
export function limit(
  running: number,
  waiting = Number.POSITIVE_INFINITY,
): <T>(work: () => Promise<T>) => Promise<T> {
  const line: (() => void)[] = [];
  let free = running;
  return async work => {
    if (free > 0) free -= 1;
    else if (line.length < waiting) await new Promise<void>(resolve => line.push(resolve));
    else throw new Error(`${running} are running and ${waiting} stand in line: this one is turned away.`);
    try {
      return await work();
    } finally {
      const next = line.shift();
      if (next) next();
      else free += 1;
    }
  };
}
