// Creates a payment: parse → serialise → sign its callback address → once(sign → send → read) → next action.
import { Buffer } from 'node:buffer';
import { type CreateOptions, readCreateOptions } from '../client-options.ts';
import { Deadline } from '../deadline.ts';
import { InvalidRequestError } from '../errors.ts';
import type { CallLimits } from '../http/client.ts';
import { type CreatedOnce, createOnce } from '../journal/create-once.ts';
import type { JournaledCreate } from '../journal/journaled-create.ts';
import { checkReference } from '../journal/key.ts';
import { otherOwner } from '../journal/owner.ts';
import { knownIds } from '../journal/row.ts';
import { type CheckedRequest, parseRequest, type RequestKind } from '../schemas/checked-request.ts';
import { isSamePayment } from '../schemas/id.ts';
import { differencesOf } from '../schemas/matching.ts';
import type { Payment } from '../schemas/payment.ts';
import { rawStatusOf } from '../schemas/payment-status.ts';
import type { Envelope } from '../schemas/response.ts';
import { serialize } from '../schemas/serialize.ts';
import { Call } from '../telemetry/call.ts';
import { warnInProduction } from '../telemetry/events.ts';
import type { Gateway } from './gateway.ts';
import { lookUpIn } from './lookup.ts';
import { type NextAction, nextActionOf } from './next-action.ts';
import { answeredWith, answeredWithAnothers, readCreated } from './response.ts';
import { signBody } from './sign.ts';

/** A payment that the gateway has accepted. */
export interface Created {
  /** Usually `PENDING`, because the outcome comes by callback. If `replayed`, the current record of the payment. */
  payment: Payment;
  /** The merchant's next step. */
  nextAction: NextAction;
  /** Whether an earlier create of this reference made the payment. Only a client with a `journal` can know. */
  replayed: boolean;
  /** Whether the lookup of a replayed payment failed: then `payment` is the record that the journal saw last. */
  stale: boolean;
}

/** @param planned the plan to send, if a drain claimed it from the journal */
export async function create(
  gateway: Gateway,
  kind: RequestKind,
  input: unknown,
  options?: CreateOptions,
  planned?: Pick<JournaledCreate, 'plan' | 'onPlanRefused'>,
): Promise<Created> {
  const call = new Call('create', gateway);

  const createIt = async () => {
    const { extra, signal, timeout = gateway.timeout } = readCreateOptions(options);
    const request = parseRequest(kind, gateway.terminal, input, gateway.webhookUrl);
    const { reference, paymentType, paymentMethod } = request;
    Object.assign(call, { reference: reference ?? undefined, paymentType, paymentMethod });
    warnUnguarded(gateway, request);
    // The journal compares requests without tokens, because a rotated key changes those.
    const { text, fields } = serialize(request, extra);
    const addressed = gateway.signCallbackUrls ? JSON.stringify(gateway.tokens.addTo(request, fields)) : text;
    // Encoded once, so that the signed bytes are sent.
    const body = Buffer.from(addressed);

    const lookUp = lookUpIn(gateway, call);
    const send = (limits: CallLimits) => sendOnce(gateway, call, { request, body }, limits);
    const journal = gateway.journalInScope;
    if (!journal || !needsJournal(request)) {
      const created = await send({ deadline: new Deadline(timeout), signal });
      return toCreated(call, { ...created, replayed: false, stale: false });
    }
    const sendShared = (deadline: Deadline, signal: AbortSignal) => send({ deadline, signal, awaitsAnswer: true });
    const once = { ...journal, call, request, fields, timeout, signal, send: sendShared, lookUp, ...planned };
    return toCreated(call, await createOnce(once));
  };

  return call.conclude(createIt, ({ payment, replayed, stale }) => ({
    paymentId: payment.id,
    paymentStatus: rawStatusOf(payment),
    outcome: stale ? 'stale' : replayed ? 'replayed' : 'ok',
  }));
}

interface Prepared {
  request: CheckedRequest;
  /** The JSON of the request, in UTF-8. */
  body: Buffer;
}

/** Signs the body, sends it, and reads the answer. @throws an error with the `outcome` for the money */
async function sendOnce(
  gateway: Gateway,
  call: Call,
  { request, body }: Prepared,
  limits: CallLimits,
): Promise<Envelope> {
  const { url, apiKey, signKey, signatureEncoding } = gateway;
  const signature = signBody(body, signKey, signatureEncoding);
  const headers = { ...gateway.headers, 'content-type': 'application/json', signature };
  const sent = { call, method: 'POST', url, headers, body, secrets: [apiKey, signature] } as const;
  const answer = answeredWith(await gateway.send(sent, limits), call);
  const created = readCreated(answer, call);
  gateway.planRefusals.end();
  const { payment } = created;
  const other = await otherOwnerOf(gateway, request, payment);
  if (other) throw answeredWithAnothers(answer, call, payment, other);
  warnOfMismatch(call, request, payment);
  return created;
}

function toCreated(call: Call, created: CreatedOnce): Created {
  const { payment, replayed, stale } = created;
  const nextAction = nextActionOf(created, message =>
    call.tell({ type: 'warning', code: 'unusable_redirect_url', message, paymentId: payment.id }),
  );
  return { payment, nextAction, replayed, stale };
}

/** Returns the reference that already has this payment in the journal, or undefined if the journal does not answer. */
async function otherOwnerOf(
  { journalInScope }: Gateway,
  { reference }: CheckedRequest,
  payment: Payment,
): Promise<string | undefined> {
  if (!journalInScope || !reference) return undefined;
  const { journal, scope } = journalInScope;
  const row = await otherOwner(journal, { scope, reference }, payment).catch(() => undefined);
  return row && knownIds(row).some(id => isSamePayment(id, payment.id)) ? row.reference : undefined;
}

/** Warns if the payment in the answer differs from the request. It still counts as the payment of the create. */
function warnOfMismatch(call: Call, request: CheckedRequest, payment: Payment): void {
  const { id: paymentId } = payment;
  const differing = differencesOf(request, payment);
  if (differing.length === 0) return;
  const message = `The answer to the create, payment ${paymentId}, differs from the request in ${differing.join(', ')}. Compare them before anything is delivered or booked.`;
  call.tell({ type: 'warning', code: 'create_mismatch', message, paymentId });
}

const WITHOUT_JOURNAL =
  'A withdrawal is created without a journal: if it is created again, it is paid again. Make the client with journal: postgresJournal(pool, { scope }).';
const WITHOUT_REFERENCE =
  'A deposit is created without a reference, so the journal does not know it: if it is created again, it is another payment. Give it a reference.';

/** Warns in production, once for each client, of a create that no journal guards. */
function warnUnguarded({ journalInScope, warned }: Gateway, { paymentType, reference }: CheckedRequest): void {
  const isUnguarded = paymentType === 'WITHDRAWAL' ? !journalInScope : journalInScope && !reference;
  const message = paymentType === 'WITHDRAWAL' ? WITHOUT_JOURNAL : WITHOUT_REFERENCE;
  if (!isUnguarded || warned.has(message)) return;
  warned.add(message);
  warnInProduction(message);
}

const NO_REFERENCE = {
  path: 'reference',
  message: 'is required with a journal: without it a second payout cannot be prevented',
};

/** @throws {InvalidRequestError} for a withdrawal without a reference. The journal skips a deposit without one */
function needsJournal(request: CheckedRequest): request is CheckedRequest & { reference: string } {
  const { reference, paymentType } = request;
  if (!reference && paymentType === 'WITHDRAWAL') throw new InvalidRequestError([NO_REFERENCE], 'not_sent');
  if (reference) checkReference(reference);
  return Boolean(reference);
}
