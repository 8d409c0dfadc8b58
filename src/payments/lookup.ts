// Reads a payment back by its id.
import { Deadline } from '../deadline.ts';
import { InvalidRequestError } from '../errors.ts';
import { type Call, reportFailure } from '../events.ts';
import { type CallOptions, readCallOptions } from '../options.ts';
import { isPaymentId, type Payment } from '../schemas/payment.ts';
import type { Gateway } from './gateway.ts';
import { readLookedUp } from './response.ts';

/** Looks a payment up, within limits. */
export type LookUp = (id: string, options?: CallOptions) => Promise<Payment>;

/** Lookups by one client. */
export const lookUpIn =
  (gateway: Gateway): LookUp =>
  (id, options) =>
    lookUp(gateway, id, options);

/** Lookups of which each takes no longer than the client's time-out. */
export const lookUpWithin =
  (gateway: Gateway): LookUp =>
  (id, { signal, timeout = gateway.timeout } = {}) =>
    lookUp(gateway, id, { signal, timeout: Math.min(timeout, gateway.timeout) });

export const NOT_AN_ID = {
  path: 'id',
  message: "must be the gateway's id of the payment, a UUID, and not your reference",
};

export async function lookUp(gateway: Gateway, id: string, options?: CallOptions): Promise<Payment> {
  const begun = performance.now();
  // Any other value stays out of events: it may be anything.
  const call: Call = { operation: 'lookup', paymentId: isPaymentId(id) ? id : undefined };
  try {
    if (!isPaymentId(id)) throw new InvalidRequestError([NOT_AN_ID]);
    const { signal, timeout = gateway.timeout } = readCallOptions(options);
    const request = { call, method: 'GET', url: `${gateway.url}/${id}`, headers: gateway.headers } as const;
    return readLookedUp(await gateway.send(request, { deadline: new Deadline(timeout), signal }), call, id);
  } catch (error) {
    reportFailure(gateway.onEvent, call, error, begun);
    throw error;
  }
}
