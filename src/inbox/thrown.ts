// What a merchant's `onPayment` has thrown. It may look like an error of this SDK, or be one, such as that of a lookup of another
// payment: of the payment at work it says no more than that its effect failed.
const thrown = new WeakSet<object>();

/** Runs a merchant's function, and remembers what it throws. */
export async function remembering<T>(work: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isObject(error)) thrown.add(error);
    throw error;
  }
}

/** Remembers an error as the merchant's, that is told of an effect of theirs. */
export function ofMerchant<E extends Error>(error: E): E {
  thrown.add(error);
  return error;
}

export const isOfMerchant = (error: unknown): boolean => isObject(error) && thrown.has(error);

const isObject = (value: unknown): value is object => Object(value) === value;
