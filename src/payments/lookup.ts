// Reads a payment back by its id.
import { type CallOptions, readCallOptions } from '../client-options.ts';
import { Deadline } from '../deadline.ts';
import { InvalidRequestError } from '../errors.ts';
import { isPaymentId } from '../schemas/id.ts';
import type { Payment } from '../schemas/records/payment.ts';
import { rawStatusOf } from '../schemas/records/payment-status.ts';
import { Call } from '../telemetry/call.ts';
import type { Gateway } from './gateway.ts';
import { readLookedUp } from './response.ts';

/** @param cause the call that makes this one, and shares its id */
export async function lookUp(gateway: Gateway, id: string, options?: CallOptions, cause?: Call): Promise<Payment> {
  const call = new Call('lookup', gateway, cause);
  const read = async () => {
    const message = "must be the gateway's UUID of the payment, not your reference";
    if (!isPaymentId(id)) throw new InvalidRequestError([{ path: 'id', message }]);
    // Any other value stays out of events: it may be anything.
    call.paymentId = id;
    const { signal, timeout = gateway.timeout } = readCallOptions(options);
    const answer = await gateway.get(call, id, { deadline: new Deadline(timeout), signal });
    return readLookedUp(answer, call, id);
  };
  return call.conclude(read, payment => ({ paymentStatus: rawStatusOf(payment) }));
}
