// Creates a payment: parse → serialise → sign its callback address → once(sign → send → read) → next action.
import { randomUUID } from 'node:crypto';
import { type CreateOptions, readCreateOptions } from '../client-options.ts';
import { Deadline } from '../deadline.ts';
import { InvalidRequestError } from '../errors.ts';
import type { CallLimits } from '../http/client.ts';
import type { Payment } from '../schemas/records/payment.ts';
import { rawStatusOf } from '../schemas/records/payment-status.ts';
import { type CheckedRequest, checkRequest, type RequestKind } from '../schemas/requests/checked-request.ts';
import { serialize } from '../schemas/requests/serialize.ts';
import { type CreateOnce, createOnce } from '../store/creates/create-once.ts';
import { isKeepable } from '../store/key.ts';
import type { Attempt } from '../store/rules/create-row.ts';
import { newAttempt } from '../store/rules/fingerprint.ts';
import { Call } from '../telemetry/call.ts';
import { warnInProduction } from '../telemetry/events.ts';
import type { Gateway } from './gateway.ts';
import { lookUp } from './lookup.ts';
import { checkUpkeep } from './missing-upkeep.ts';
import { type NextAction, nextActionOf } from './next-action.ts';
import { readCreated } from './response.ts';

/** A payment that the gateway has accepted. */
export interface Created {
  /**
   * Usually `PENDING`, because the outcome comes by callback. If `replayed`, the payment's current record. A final
   * payment comes from the store, without customer data.
   */
  payment: Payment;
  /** The merchant's next step. */
  nextAction: NextAction;
  /** Whether an earlier create of this reference made the payment. Only a client with a `store` can know. */
  replayed: boolean;
  /** Whether the lookup of a replayed payment failed: then `payment` is the record that the store saw last. */
  stale: boolean;
}

const UNGUARDED =
  'A withdrawal is created without a store, so a retry can pay it again. Pass a store to the client: postgresStore(pool, { scope }).';

export async function create(
  gateway: Gateway,
  kind: RequestKind,
  input: unknown,
  options?: CreateOptions,
  { plan, order }: Pick<CreateOnce, 'plan'> & Pick<Attempt, 'order'> = {},
): Promise<Created> {
  const call = new Call('create', gateway);
  if (!plan) checkUpkeep(gateway);

  const createIt = async (): Promise<Created> => {
    const { extra, signal, timeout = gateway.timeout } = readCreateOptions(options);
    const limits = { deadline: new Deadline(timeout), signal };
    const { store } = gateway;
    const checked = checkRequest(gateway, kind, input);
    const request = store ? withReference(checked) : checked;
    const { reference, paymentType, paymentMethod, amount, webhookUrl, callbackUrl } = request;
    Object.assign(call, { reference: reference ?? undefined, paymentType, paymentMethod });
    if (!store && paymentType === 'WITHDRAWAL') {
      if (!gateway.hasWarned) warnInProduction(UNGUARDED);
      gateway.hasWarned = true;
    }
    const text = serialize(gateway.signCallbackUrls ? gateway.tokens.addTo(request) : request, extra);

    const send = async (limits: CallLimits) => readCreated(await gateway.post(call, text, limits), call, request);
    const once =
      store && reference
        ? await createOnce({
            ...{ store, call, plan, ...limits },
            // Without tokens, because a rotated key changes those.
            attempt: newAttempt(
              { ...JSON.parse(text), amount, webhookUrl, callbackUrl },
              { timeoutMs: timeout, order },
            ),
            lookUp: (id, { deadline, signal }) => lookUp(gateway, id, { timeout: deadline.timeout, signal }, call),
            send: ({ deadline, signal }) => send({ deadline, signal, awaitsAnswer: true }),
          })
        : { ...(await send(limits)).created, replayed: false, stale: false };
    const { payment, replayed, stale } = once;
    return { payment, nextAction: nextActionOf(once), replayed, stale };
  };

  return call.conclude(createIt, ({ payment, replayed, stale }) => ({
    paymentId: payment.id,
    paymentStatus: rawStatusOf(payment),
    outcome: stale ? 'stale' : replayed ? 'replayed' : 'ok',
  }));
}

/** Gives a deposit without a reference a UUID, so that the store knows it. @throws {InvalidRequestError} */
export function withReference(request: CheckedRequest): CheckedRequest & { reference: string } {
  const reference = request.reference || (request.paymentType === 'DEPOSIT' ? randomUUID() : '');
  if (reference && isKeepable(reference)) return { ...request, reference };
  const message = reference
    ? 'must have at most 1,020 bytes of UTF-8 and no NUL, with a store'
    : 'is required with a store: the SDK prevents a second payout of one reference';
  throw new InvalidRequestError([{ path: 'reference', message }], 'not_sent');
}
