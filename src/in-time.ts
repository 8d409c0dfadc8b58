// Bounds how long we wait for somebody else.

/** Settles as the promise does or, if that takes more than `ms`, as `late` does. */
export function inTime<T>(promise: Promise<T>, ms: number, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms);
  });
  return Promise.race([promise, elapsed.then(late)]).finally(() => clearTimeout(timer));
}

/** For {@link inTime}: being late is a failure. */
export const failing = (message: string) => (): never => {
  throw new Error(message);
};
