// Creates a payment: parse → serialise → sign its callback address → once(sign → send → read) → next action.
import { Buffer } from 'node:buffer';
import { Deadline } from '../deadline.ts';
import { InvalidRequestError } from '../errors.ts';
import { type Call, notify, reportFailure } from '../events.ts';
import type { CallLimits } from '../http/client.ts';
import type { JournalRow } from '../journal/contract.ts';
import { createOnce } from '../journal/create-once.ts';
import { type CreateOptions, readCreateOptions } from '../options.ts';
import { type CheckedRequest, parseRequest, type RequestKind } from '../schemas/checked-request.ts';
import type { Payment } from '../schemas/payment.ts';
import { serialize } from '../schemas/serialize.ts';
import type { Gateway } from './gateway.ts';
import { lookUpIn } from './lookup.ts';
import { type NextAction, nextActionOf } from './next-action.ts';
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

/** @param plan what is sent, if it was claimed of the journal */
export async function create(
  gateway: Gateway,
  kind: RequestKind,
  input: unknown,
  options?: CreateOptions,
  plan?: JournalRow,
): Promise<Created> {
  const begun = performance.now();
  const { onEvent } = gateway;
  let call: Call = { operation: 'create' };
  try {
    const { extra, signal, timeout = gateway.timeout } = readCreateOptions(options);
    const request = parseRequest(kind, gateway.terminal, input);
    call = { operation: 'create', reference: request.reference ?? undefined };
    // The journal compares requests without tokens: a rotated key makes no other request of the same one.
    const { text, fields } = serialize(request, extra);
    const addressed = gateway.signCallbackUrls ? JSON.stringify(gateway.tokens.addTo(request, fields)) : text;
    // Made once: the bytes signed are the bytes sent.
    const body = Buffer.from(addressed);

    const lookUp = lookUpIn(gateway);
    const send = async (limits: CallLimits) => {
      const { url, signKey, signatureEncoding } = gateway;
      const signature = signBody(body, signKey, signatureEncoding);
      const headers = { ...gateway.headers, 'content-type': 'application/json', signature };
      const answer = await gateway.send({ call, method: 'POST', url, headers, body }, limits);
      if (!isRefused(answer)) return readCreated(answer, call);
      return readCreated(answer, call, await examineRefusal(answer, request, lookUp, limits));
    };
    const sendShared = (deadline: Deadline, signal: AbortSignal) => send({ deadline, signal, awaitsAnswer: true });
    const { replayed, stale, ...created } =
      gateway.clientJournal && needsJournal(request)
        ? await createOnce({
            ...gateway.clientJournal,
            request,
            fields,
            timeout,
            signal,
            send: sendShared,
            lookUp,
            plan,
          })
        : { ...(await send({ deadline: new Deadline(timeout), signal })), replayed: false, stale: false };

    const { payment } = created;
    const nextAction = nextActionOf(created, message =>
      notify(onEvent, {
        ...call,
        paymentId: payment.id,
        type: 'warning',
        code: 'unusable_redirect_url',
        message,
      }),
    );
    return { payment, nextAction, replayed, stale };
  } catch (error) {
    reportFailure(onEvent, call, error, begun);
    throw error;
  }
}

const NO_REFERENCE = {
  path: 'reference',
  message: 'is required with a journal: without it a second payout cannot be prevented',
};

/** @throws {InvalidRequestError} for a withdrawal without a reference; a deposit without one is sent as it is */
function needsJournal(request: CheckedRequest): request is CheckedRequest & { reference: string } {
  if (!request.reference && request.paymentType === 'WITHDRAWAL') {
    throw new InvalidRequestError([NO_REFERENCE], 'not_sent');
  }
  return Boolean(request.reference);
}
