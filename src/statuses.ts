// What a status of the gateway's means: for the money, and for the next call.

/**
 * Statuses that say that the gateway refused a create, and made no payment. After any other error status, those that
 * proxies send after they have passed a request on among them, a payment may exist.
 */
const REFUSALS: ReadonlySet<number> = new Set([
  400, 401, 402, 403, 404, 405, 406, 411, 413, 414, 415, 422, 429, 431, 451,
]);

export const isRefusal = (status: number): boolean => REFUSALS.has(status);

const OF_THE_REQUEST: ReadonlySet<number> = new Set([400, 413, 414, 422]);

/** Whether a refusal is of the request itself. Every other is of the client: its key, its address, its haste. */
export const isOfRequest = (status: number): boolean => OF_THE_REQUEST.has(status);

/** It may be of the client, or of one request, such as one with a method that the terminal must not use. */
export const FORBIDDEN = 403;

/** Too many calls: they pass by themselves. */
export const TOO_MANY = 429;

/** What of the client to look at after such a status of a create, if it can be that. */
export function whatToCheck(status: number, baseUrl: string | undefined): string | undefined {
  if (status === 401 || status === FORBIDDEN) return 'Check apiKey, signKey and signatureEncoding.';
  return status === 404 || status === 405 ? `Check baseUrl, ${baseUrl}: is it the gateway's?` : undefined;
}

/** Statuses after which a later lookup may succeed. A create is not repeated after any: it may have been accepted. */
export const PASSING: readonly number[] = [408, 425, TOO_MANY, 500, 502, 503, 504];

/** Whether a later lookup may succeed after this answer. */
export const isPassing = (status: number): boolean => status >= 500 || PASSING.includes(status);

/**
 * Whether a lookup that was answered so says nothing of the payment. 500 says that there is none: a gateway may answer so to an
 * id that is none of its payments', every time.
 */
export const saysNothing = (status: number): boolean => status !== 500 && (status === 401 || isPassing(status));
