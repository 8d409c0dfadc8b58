// Turns the gateway's answer into a payment, or into an error with the outcome for the money.
import {
  ApiError,
  adviceOn,
  ConnectionError,
  type Issue,
  issuesOf,
  listOf,
  type Outcome,
  PaymentNotFoundError,
  ResponseError,
} from '../errors.ts';
import type { NoAnswer } from '../http/client.ts';
import type { HttpAnswer } from '../http/exchange.ts';
import { pauseAsked } from '../http/retry-policy.ts';
import { FORBIDDEN, isRefusal, whatToCheck } from '../http-statuses.ts';
import { compiledWhenBusy } from '../schemas/compiled.ts';
import { isPaymentId, isSamePayment } from '../schemas/id.ts';
import { parseJson } from '../schemas/json.ts';
import { differencesOf, hasReference } from '../schemas/records/matching.ts';
import type { Payment } from '../schemas/records/payment.ts';
import { type Envelope, envelopeSchema, recordIn } from '../schemas/records/response.ts';
import type { CheckedRequest } from '../schemas/requests/checked-request.ts';
import type { Accepted } from '../store/creates/create-once.ts';
import type { Call } from '../telemetry/call.ts';
import { findPaymentId } from './payment-id.ts';

/** Returns the created payment with its transfer instructions. @throws an error with the `outcome` for the money */
export function readCreated(result: HttpAnswer | NoAnswer, call: Call, request: CheckedRequest): Accepted {
  if ('code' in result) {
    const paymentId = findPaymentId(result.received);
    throw noAnswer(result, call, { outcome: result.mayHaveLeft ? 'unknown' : 'not_sent', paymentId });
  }
  if (!isSuccess(result)) throw apiError(result, call, verdictOn(result));
  const created = read(result, call, 'unknown');
  const { payment } = created;
  // Gateways may trim a reference and change its case.
  const isFolded = hasReference(payment, request.reference);
  const differing = differencesOf(request, payment).filter(field => field !== 'reference' || !isFolded);
  const issues = differing.map(path => ({ path, message: 'differs from the request' }));
  if (issues.length > 0) throw unusable(result, call, issues, 'unknown');
  const anothers = (owner?: string) => {
    const message = `is the payment of ${owner ? JSON.stringify(owner) : 'another create'}`;
    return unusable(result, call, [{ path: 'id', message }], 'unknown');
  };
  return { created, anothers };
}

/** A complete answer with a status of {@link isRefusal} means that no payment exists, unless it contains a record. */
function verdictOn({ status, body, isTooLong, isCompressed }: HttpAnswer): Verdict {
  const isRejected = isRefusal(status) && !isTooLong && !isCompressed && !hasRecord(body);
  return isRejected ? { outcome: 'rejected' } : { outcome: 'unknown', paymentId: findPaymentId(body) };
}

/** Returns whether the body is a record of the gateway, wrapped or not. */
function hasRecord(body: string): boolean {
  const { id, paymentStatus } = Object(recordIn(parseJson(body)?.value));
  return isPaymentId(id) && Boolean(paymentStatus);
}

/** Returns the payment with exactly the requested id. */
export function readLookedUp(result: HttpAnswer | NoAnswer, call: Call, paymentId: string): Payment {
  if ('code' in result) throw noAnswer(result, call, { paymentId });
  if (result.status === 404) {
    const message = `The gateway has no payment ${paymentId} (404). If it should, check baseUrl, ${call.baseUrl}, and apiKey.`;
    throw new PaymentNotFoundError(message, result, { paymentId });
  }
  if (!isSuccess(result)) throw apiError(result, call, { paymentId });
  const { payment } = read(result, call);
  if (isSamePayment(payment.id, paymentId)) return payment;
  throw unusable(result, call, [{ path: 'id', message: 'is the id of another payment' }]);
}

interface Verdict {
  outcome?: Outcome | undefined;
  paymentId?: string | undefined;
}

/** Names a call in an error's message. */
function nameOf({ operation, reference, paymentId }: Call): string {
  if (operation === 'lookup') return `the lookup of payment ${paymentId}`;
  return reference ? `the creation of ${JSON.stringify(reference)}` : 'the creation of a payment';
}

const isSuccess = ({ status }: HttpAnswer) => status >= 200 && status < 300;

const parseEnvelope = compiledWhenBusy(envelopeSchema);

function read(answer: HttpAnswer, call: Call, outcome?: Outcome): Envelope {
  const json = answer.isTooLong ? undefined : parseJson(answer.body);
  const problem = answer.isTooLong ? 'is longer than any answer of the gateway' : 'is not JSON';
  if (!json) throw unusable(answer, call, [{ path: '', message: problem }], outcome);
  const { success, data, error } = parseEnvelope(json.value);
  if (success) return data;
  // The field names of the answer, without the envelope's own.
  const issues = issuesOf(error).map(({ path, message }) => ({
    path: path.replace(/^(?:payment|transfer)\.?/, ''),
    message,
  }));
  throw unusable(answer, call, issues, outcome);
}

function unusable(answer: HttpAnswer, call: Call, issues: Issue[], outcome?: Outcome): ResponseError {
  const verdict = { outcome, paymentId: call.paymentId ?? findPaymentId(answer.body) };
  const message = `The gateway answered ${answer.status} to ${nameOf(call)}, and the answer cannot be used`;
  return new ResponseError(`${message}: ${listOf(issues)}. ${adviceOf(verdict)}`.trimEnd(), answer, issues, verdict);
}

function apiError(answer: HttpAnswer, call: Call, verdict: Verdict): ApiError {
  const message = `The gateway answered ${answer.status} to ${nameOf(call)}; \`body\` holds its text.`;
  const { status } = answer;
  const isDenied = status === 401 || status === FORBIDDEN;
  const check = call.operation === 'create' ? whatToCheck(status, call.baseUrl) : isDenied && 'Check apiKey.';
  const text = [message, check, adviceOf(verdict)].filter(Boolean).join(' ');
  return new ApiError(text, { ...answer, pause: pauseAsked(answer.retryAfter) }, verdict);
}

function noAnswer({ code, cause }: NoAnswer, call: Call, verdict: Verdict): ConnectionError {
  const advice = adviceOf(verdict) || 'A lookup changes nothing: it is safe to repeat.';
  const message = `No complete answer from ${call.baseUrl} to ${nameOf(call)} (${code}). ${advice}`;
  return new ConnectionError(message, code, { cause, ...verdict });
}

const adviceOf = ({ outcome, paymentId }: Verdict) => (outcome ? adviceOn(outcome, paymentId) : '');
