// Turns the gateway's answer into a payment, or into an error with the outcome for the money.
import {
  ApiError,
  adviceOn,
  ConnectionError,
  type GatewayError,
  type Issue,
  listOf,
  type Outcome,
  PaymentNotFoundError,
  ResponseError,
} from '../errors.ts';
import type { NoAnswer } from '../http/client.ts';
import type { HttpAnswer } from '../http/exchange.ts';
import { FORBIDDEN, isRefusal, whatToCheck } from '../http-statuses.ts';
import { isPaymentId, isSamePayment } from '../schemas/id.ts';
import { parseJson } from '../schemas/json.ts';
import { differencesOf, hasReference } from '../schemas/records/matching.ts';
import type { Payment } from '../schemas/records/payment.ts';
import { type Envelope, readEnvelope, recordIn } from '../schemas/records/response.ts';
import type { CheckedRequest } from '../schemas/requests/checked-request.ts';
import type { Accepted } from '../store/creates/create-once.ts';
import type { Call } from '../telemetry/call.ts';

/** @throws an error with the `outcome` for the money */
export function readCreated(result: HttpAnswer | NoAnswer, call: Call, request: CheckedRequest): Accepted {
  const created = read(result, call);
  const { payment } = created;
  // Gateways may trim a reference and change its case.
  const isFolded = hasReference(payment, request.reference);
  const differing = differencesOf(request, payment).filter(field => field !== 'reference' || !isFolded);
  const issues = differing.map(path => ({ path, message: 'differs from the request' }));
  if (issues.length > 0) throw failed(result, call, issues);
  const anothers = (owner?: string) => {
    const message = `is the payment of ${owner ? JSON.stringify(owner) : 'another create'}`;
    return failed(result, call, [{ path: 'id', message }]);
  };
  return { created, anothers };
}

export function readLookedUp(result: HttpAnswer | NoAnswer, call: Call, paymentId: string): Payment {
  const { payment } = read(result, call);
  if (isSamePayment(payment.id, paymentId)) return payment;
  throw failed(result, call, [{ path: 'id', message: 'is the id of another payment' }]);
}

function read(result: HttpAnswer | NoAnswer, call: Call): Envelope {
  const isSuccess = 'status' in result && result.status >= 200 && result.status < 300;
  if (!isSuccess) throw failed(result, call);
  const json = result.isTooLong ? undefined : parseJson(result.body);
  const problem = result.isTooLong ? 'is longer than any answer of the gateway' : 'is not JSON';
  if (!json) throw failed(result, call, [{ path: '', message: problem }]);
  const envelope = readEnvelope(json.value);
  if (Array.isArray(envelope)) throw failed(result, call, envelope);
  return envelope;
}

/** Makes the error of a failed call. @param issues the reasons why the SDK cannot use a successful answer */
function failed(result: HttpAnswer | NoAnswer, call: Call, issues?: Issue[]): GatewayError {
  const { operation, baseUrl, reference, paymentId } = call;
  const isLookup = operation === 'lookup';
  const created = reference ? JSON.stringify(reference) : 'a payment';
  const name = isLookup ? `the lookup of payment ${paymentId}` : `the creation of ${created}`;
  const details = isLookup ? { paymentId } : verdictOn(result);
  const { outcome } = details;
  const advice = outcome ? adviceOn(outcome, details.paymentId) : '';
  if ('code' in result) {
    const { code, cause } = result;
    const next = advice || 'A lookup changes nothing: it is safe to repeat.';
    const message = `No complete answer from ${baseUrl} to ${name} (${code}). ${next}`;
    return new ConnectionError(message, code, { cause, ...details });
  }
  const { status } = result;
  if (issues) {
    const message = `The gateway answered ${status} to ${name}, and the answer cannot be used`;
    return new ResponseError(`${message}: ${listOf(issues)}. ${advice}`.trimEnd(), result, issues, details);
  }
  if (isLookup && status === 404) {
    const message = `The gateway has no payment ${paymentId} (404). If it should, check baseUrl, ${baseUrl}, and apiKey.`;
    return new PaymentNotFoundError(message, result, details);
  }
  const message = `The gateway answered ${status} to ${name}; \`body\` holds its text.`;
  const isDenied = status === 401 || status === FORBIDDEN;
  const check = isLookup ? isDenied && 'Check apiKey.' : whatToCheck(status, baseUrl);
  const text = [message, check, advice].filter(Boolean).join(' ');
  return new ApiError(text, result, details);
}

/** A complete refusal without a record means that no payment exists. */
function verdictOn(result: HttpAnswer | NoAnswer): { outcome?: Outcome; paymentId?: string | undefined } {
  const isAnswer = 'status' in result;
  if (isAnswer && isWithoutPayment(result)) return { outcome: 'rejected' };
  return { outcome: isAnswer || result.mayHaveLeft ? 'unknown' : 'not_sent', paymentId: findPaymentId(result.body) };
}

function isWithoutPayment({ status, body, isTooLong, isCompressed }: HttpAnswer): boolean {
  if (!isRefusal(status) || isTooLong || isCompressed) return false;
  const { id, paymentStatus } = Object(recordIn(parseJson(body)?.value));
  return !isPaymentId(id) || !paymentStatus;
}

/** A string with the colon of a key, or a bracket. A string without an end ends the body: its id may be whole. */
const TOKEN = /"([^"\\]*(?:\\.[^"\\]*)*)(?:"|$)(\s*:)?|[{}[\]]/gs;

/** Finds the id of the record in a body, even a cut-off one: from `result`, or from the top. */
export function findPaymentId(body: string): string | undefined {
  const path: string[] = [];
  let top: string | undefined;
  for (const [token, text = '', colon] of body.matchAll(TOKEN)) {
    if (token === '{' || token === '[') path.push('');
    else if (token === '}' || token === ']') path.pop();
    else if (colon && path.length > 0) path[path.length - 1] = text;
    else if (isPaymentId(text)) {
      // A key contains a quote only after a backslash.
      const name = path.join('"');
      if (name === 'result"id') return text;
      if (name === 'id') top ??= text;
    }
  }
  return top;
}
