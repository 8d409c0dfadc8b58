// Remembers the errors of a merchant's functions. Even an error of this SDK, such as from the lookup of another
// payment, only means that the effect failed.
const thrown = new WeakSet<object>();

/** Runs a merchant's function, and remembers its error. */
export async function remembering<T>(work: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isObject(error)) thrown.add(error);
    throw error;
  }
}

/** Remembers the SDK's error about a merchant's effect as the merchant's. */
export function ofMerchant<E extends Error>(error: E): E {
  thrown.add(error);
  return error;
}

export const isOfMerchant = (error: unknown): boolean => isObject(error) && thrown.has(error);

const isObject = (value: unknown): value is object => Object(value) === value;
