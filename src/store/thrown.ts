// Remembers the errors of a merchant's functions. Even an error of this SDK, such as from the lookup of another
// payment, only means that the effect failed.
const thrown = new WeakSet<object>();

/** Runs a merchant's function, and remembers its error. A thrown value that is none becomes one. */
export async function remembering<T>(work: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw ofMerchant(Object(error) === error ? (error as object) : new Error(NOT_AN_ERROR, { cause: error }));
  }
}

/** Remembers the SDK's error about a merchant's effect as the merchant's. */
export function ofMerchant<E extends object>(error: E): E {
  thrown.add(error);
  return error;
}

const NOT_AN_ERROR = 'The function threw a value that is not an error. It is the cause of this one.';

export const isOfMerchant = (error: unknown): boolean => thrown.has(error as object);
