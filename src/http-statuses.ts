// The meaning of the gateway's HTTP statuses for the money and the next call.

/** They prove that a create made no payment. Proxies may send other error statuses after they passed a request on. */
const REFUSALS = new Set([400, 401, 402, 403, 404, 405, 406, 411, 413, 414, 415, 422, 429, 431, 451]);

export const isRefusal = (status: number) => REFUSALS.has(status);

/** Returns whether a refusal concerns the request itself, not the client's key, address or call rate. */
export const isOfRequest = (status: number) => [400, 413, 414, 422].includes(status);

/** It may concern the client, or a request with a method that the terminal must not use. */
export const FORBIDDEN = 403;

/** Returns advice after a refused create, if the client can be the cause. */
export function whatToCheck(status: number, baseUrl: string | undefined) {
  if (status === 401 || status === FORBIDDEN) return 'Check apiKey, signKey and signatureEncoding.';
  return status === 404 || status === 405 ? `Check baseUrl, ${baseUrl}: is it the gateway's?` : undefined;
}

/** Returns whether the status passes by itself, so that a later lookup may succeed. A create may have been accepted. */
export const isPassing = (status: number) => status >= 500 || [408, 425, 429].includes(status);
