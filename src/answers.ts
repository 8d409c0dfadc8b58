// Turns an answer of the gateway into a payment, or into the error that says what it means for the money.
import type { Answer } from './attempts.ts';
import {
  ApiError,
  adviceOn,
  type Issue,
  listOf,
  type Outcome,
  PaymentNotFoundError,
  ResponseError,
} from './errors.ts';
import { type Call, nameOf } from './events.ts';
import { issuesOf } from './issues.ts';
import { findPaymentId, isSamePayment } from './payment-id.ts';
import { type Envelope, envelopeSchema } from './schemas/envelope.ts';
import type { Payment } from './schemas/payment.ts';

/** Refusals that leave open whether the gateway had already taken the payment. */
const DOUBTFUL_REFUSALS: ReadonlySet<number> = new Set([408, 409, 425]);

/** The payment that a create made, and the transfer instructions beside it. */
export function readCreated(answer: Answer, call: Call): Envelope {
  if (!isSuccess(answer)) {
    const paymentId = findPaymentId(answer.body);
    const isRejected = isRefusal(answer) && !answer.tooLong && !paymentId;
    throw apiError(answer, call, { outcome: isRejected ? 'rejected' : 'unknown', paymentId });
  }
  return read(answer, call, 'unknown');
}

/** The payment that was looked up: that very one, and never another. */
export function readLookedUp(answer: Answer, call: Call, paymentId: string): Payment {
  if (answer.status === 404) {
    const message = `The gateway has no payment ${paymentId} (404). If it should, check baseUrl and apiKey.`;
    throw new PaymentNotFoundError(message, answer, { paymentId });
  }
  if (!isSuccess(answer)) throw apiError(answer, call, { paymentId });
  const { payment } = read(answer, call);
  if (!isSamePayment(payment.id, paymentId)) {
    throw unreadable(answer, call, [{ path: 'id', message: 'is that of another payment' }]);
  }
  return payment;
}

interface Verdict {
  outcome?: Outcome | undefined;
  paymentId?: string | undefined;
}

const isRefusal = ({ status }: Answer) => status >= 400 && status < 500 && !DOUBTFUL_REFUSALS.has(status);
const isSuccess = ({ status }: Answer) => status >= 200 && status < 300;

function read(answer: Answer, call: Call, outcome?: Outcome): Envelope {
  const json = parseJson(answer);
  if (typeof json === 'string') throw unreadable(answer, call, [{ path: '', message: json }], outcome);
  const { success, data, error } = envelopeSchema.safeParse(json.value);
  if (!success) throw unreadable(answer, call, issuesOf(error).map(asOnTheWire), outcome);
  return data;
}

/** The names of the answer, rather than those of the parts we take it apart into. */
const asOnTheWire = ({ path, message }: Issue): Issue => ({
  path: path.replace(/^(?:payment|transfer)\.?/, ''),
  message,
});

/** The value, or what is wrong with the text. */
function parseJson({ body, tooLong }: Answer): { value: unknown } | string {
  if (tooLong) return 'is longer than any answer of the gateway';
  if (body.trim() === '') return 'is empty';
  try {
    return { value: JSON.parse(body) };
  } catch {
    return 'is not JSON';
  }
}

function unreadable(answer: Answer, call: Call, issues: Issue[], outcome?: Outcome): ResponseError {
  const verdict = { outcome, paymentId: call.paymentId ?? findPaymentId(answer.body) };
  const told = `The gateway answered ${answer.status} to ${nameOf(call)}, and the answer cannot be read`;
  return new ResponseError(
    `${told}: ${listOf(issues)}. ${advice(verdict)}`.trimEnd(),
    answer,
    issues,
    verdict,
  );
}

function apiError(answer: Answer, call: Call, verdict: Verdict): ApiError {
  const told = `The gateway answered ${answer.status} to ${nameOf(call)}; \`body\` holds its words.`;
  const isLocked = answer.status === 401 || answer.status === 403;
  const mend = verdict.outcome ? 'Check apiKey, signKey and signatureEncoding.' : 'Check apiKey.';
  return new ApiError([told, isLocked && mend, advice(verdict)].filter(Boolean).join(' '), answer, verdict);
}

const advice = ({ outcome, paymentId }: Verdict) => (outcome ? adviceOn(outcome, paymentId) : '');
