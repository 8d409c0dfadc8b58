// The form of a payment's id, apart from the schemas because stores need only this.
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** Checks for a UUID of any version, which may enter the path of a lookup. */
export const isPaymentId = (value: unknown): value is string => typeof value === 'string' && UUID.test(value);

export const isSamePayment = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
