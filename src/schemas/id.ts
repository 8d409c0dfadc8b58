// What the id of a payment looks like. Apart from the schema, because a store needs no more than this.
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** Whether a value is a UUID of any version, and so may enter the path of a lookup. */
export const isPaymentId = (value: unknown): value is string => typeof value === 'string' && UUID.test(value);

/** Whether two ids name the same payment. */
export const isSamePayment = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
