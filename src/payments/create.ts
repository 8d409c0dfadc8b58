// Creates a payment: parse → serialise → sign its callback address → once(sign → send → read) → next action.
import { Buffer } from 'node:buffer';
import { Deadline } from '../deadline.ts';
import { InvalidRequestError } from '../errors.ts';
import type { CallLimits } from '../http/client.ts';
import type { Create } from '../journal/create.ts';
import { createOnce } from '../journal/create-once.ts';
import { checkReference } from '../journal/key.ts';
import { type CreateOptions, readCreateOptions } from '../options.ts';
import { type CheckedRequest, parseRequest, type RequestKind } from '../schemas/checked-request.ts';
import { differencesOf } from '../schemas/matching.ts';
import type { Payment } from '../schemas/payment.ts';
import { rawStatusOf } from '../schemas/payment-status.ts';
import { serialize } from '../schemas/serialize.ts';
import { Call } from '../telemetry/call.ts';
import { warnInProduction } from '../telemetry/events.ts';
import type { Gateway } from './gateway.ts';
import { lookUpIn } from './lookup.ts';
import { type NextAction, nextActionOf } from './next-action.ts';
import { reasonOf } from './reason.ts';
import { examineRefusal, isRefused } from './refusal.ts';
import { readCreated } from './response.ts';
import { signBody } from './sign.ts';

/** A payment that the gateway has accepted. */
export interface Created {
  /** As a rule `PENDING`: the outcome comes by callback. A replayed one is as it is now. */
  payment: Payment;
  /** What to do now. */
  nextAction: NextAction;
  /** Whether an earlier create of this reference made the payment; only a `journal` can know. */
  replayed: boolean;
  /** Whether the lookup of a replayed payment failed: it is as the journal last saw it. */
  stale: boolean;
}

/** @param planned what is sent, if it was claimed of the journal */
export async function create(
  gateway: Gateway,
  kind: RequestKind,
  input: unknown,
  options?: CreateOptions,
  planned?: Pick<Create, 'plan' | 'keepsRefused'>,
): Promise<Created> {
  const call = new Call('create', gateway);
  return call.conclude(
    () => createOf(gateway, call, { kind, input, options, planned }),
    ({ payment, replayed, stale }) => ({
      paymentId: payment.id,
      paymentStatus: rawStatusOf(payment),
      outcome: stale ? 'stale' : replayed ? 'replayed' : 'ok',
    }),
  );
}

/** What a create is asked for. */
interface Asked {
  kind: RequestKind;
  input: unknown;
  options?: CreateOptions | undefined;
  planned?: Pick<Create, 'plan' | 'keepsRefused'> | undefined;
}

async function createOf(gateway: Gateway, call: Call, { kind, input, options, planned }: Asked): Promise<Created> {
  const { extra, signal, timeout = gateway.timeout } = readCreateOptions(options);
  const request = parseRequest(kind, gateway.terminal, input);
  const { reference, paymentType, paymentMethod } = request;
  Object.assign(call, { reference: reference ?? undefined, paymentType, paymentMethod });
  warnOfPayoutsTwice(gateway, request);
  // The journal compares requests without tokens: a rotated key makes no other request of the same one.
  const { text, fields } = serialize(request, extra);
  const addressed = gateway.signCallbackUrls ? JSON.stringify(gateway.tokens.addTo(request, fields)) : text;
  // Made once: the bytes signed are the bytes sent.
  const body = Buffer.from(addressed);

  const lookUp = lookUpIn(gateway, call);
  const send = async (limits: CallLimits) => {
    const { url, apiKey, signKey, signatureEncoding } = gateway;
    const signature = signBody(body, signKey, signatureEncoding);
    const headers = { ...gateway.headers, 'content-type': 'application/json', signature };
    const secrets = [apiKey, signature];
    const answer = await gateway.send({ call, method: 'POST', url, headers, body, secrets }, limits);
    const reason = gateway.errorReasons ? reasonOf(answer, { secrets, fields }) : undefined;
    if (!isRefused(answer)) {
      const created = readCreated(answer, call, { reason });
      gateway.refusedPlans = 0;
      warnOfMismatch(call, request, created.payment);
      return created;
    }
    const verdict = await examineRefusal(answer, request, lookUp, limits);
    return readCreated(answer, call, { verdict, reason });
  };
  const sendShared = (deadline: Deadline, signal: AbortSignal) => send({ deadline, signal, awaitsAnswer: true });
  const journal = gateway.journalInScope;
  const { replayed, stale, ...created } =
    journal && needsJournal(request)
      ? await createOnce({ ...journal, call, request, fields, timeout, signal, send: sendShared, lookUp, ...planned })
      : { ...(await send({ deadline: new Deadline(timeout), signal })), replayed: false, stale: false };

  const { payment } = created;
  const nextAction = nextActionOf(created, message =>
    call.tell({ type: 'warning', code: 'unusable_redirect_url', message, paymentId: payment.id }),
  );
  return { payment, nextAction, replayed, stale };
}

/** The answer to a create names its payment, whatever else it says: but it may be of other money than was asked for. */
function warnOfMismatch(call: Call, request: CheckedRequest, payment: Payment): void {
  const { id: paymentId } = payment;
  const differing = differencesOf(request, payment);
  if (differing.length === 0) return;
  const message = `The answer to the create, payment ${paymentId}, differs from the request in ${differing.join(', ')}. Compare them before anything is delivered or booked.`;
  call.tell({ type: 'warning', code: 'create_mismatch', message, paymentId });
}

const warned = new WeakSet<Gateway>();

/** Once for each client. */
function warnOfPayoutsTwice(gateway: Gateway, { paymentType }: CheckedRequest): void {
  if (paymentType !== 'WITHDRAWAL' || gateway.journalInScope || warned.has(gateway)) return;
  warned.add(gateway);
  warnInProduction(
    'A withdrawal is created without a journal: if it is created again, it is paid again. Make the client with journal: postgresJournal(pool, { scope }).',
  );
}

const NO_REFERENCE = {
  path: 'reference',
  message: 'is required with a journal: without it a second payout cannot be prevented',
};

/** @throws {InvalidRequestError} for a withdrawal without a reference; a deposit without one is sent as it is */
function needsJournal(request: CheckedRequest): request is CheckedRequest & { reference: string } {
  const { reference, paymentType } = request;
  if (!reference && paymentType === 'WITHDRAWAL') throw new InvalidRequestError([NO_REFERENCE], 'not_sent');
  if (reference) checkReference(reference);
  return Boolean(reference);
}
