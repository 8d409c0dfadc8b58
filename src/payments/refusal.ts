// Finds out whether a create that the gateway refused has made a payment all the same.
import { delay, LateError } from '../deadline.ts';
import { ApiError, type Outcome, PaymentNotFoundError } from '../errors.ts';
import type { CallLimits } from '../http/client.ts';
import type { HttpAnswer } from '../http/exchange.ts';
import { saysNone } from '../journal/evidence.ts';
import type { CheckedRequest } from '../schemas/checked-request.ts';
import { isJson, isPage } from '../schemas/json.ts';
import { hasReference, isPaymentOf } from '../schemas/matching.ts';
import type { Payment } from '../schemas/payment.ts';
import { isDenial, isRefusal } from '../statuses.ts';
import { LAG_PAUSES, type LookUp } from './lookup.ts';
import { candidateIds, findPaymentId, isWithinObject } from './payment-id.ts';

/** What an error answer means for the money. */
export interface Verdict {
  outcome: Outcome;
  paymentId?: string | undefined;
}

/** More ids are more than an answer about one payment has. */
const MOST_CANDIDATES = 3;

/** Whether the answer says that no payment was made: the whole of it, because it may name one at its end. */
export function saysNoPayment({ status, body, isTooLong, isEncoded, stray, isEndedByClose }: HttpAnswer): boolean {
  if (!isRefusal(status) || isTooLong || isEncoded || !saysNothingMore(stray)) return false;
  if (isWholePage(body) || isJson(body)) return true;
  return !(isCutOff(body) || BINARY.test(body) || (isEndedByClose && isWithinObject(body)));
}

/** A server that refuses without reading a body takes that for a request, and refuses it as well. */
const saysNothingMore = (stray = ''): boolean =>
  stray === '' || (/^HTTP\/\d\.\d 4\d\d\b/.test(stray) && candidateIds(stray).length === 0 && !isWithinObject(stray));

/** Text has none of these, but that of a terminal: it is compressed, though nobody says so. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const BINARY = /[\0-\x08\x0e-\x1a\x1c-\x1f]/;

/** A whole page, as of a proxy, whose styles and scripts have braces. Comments may follow it. */
const isWholePage = (body: string): boolean =>
  isPage(body) && /<\/html>(?:\s|<!--[^>]*>)*$/i.test(body.slice(-LONGEST_END));
/** Characters, because the expression takes the square of them. */
const LONGEST_END = 1_000;

/** Without a length, an answer that breaks off ends like a whole one: only its JSON tells, which goes on to the end. */
function isCutOff(body: string): boolean {
  // Also where it is a text that holds JSON.
  if (/^\s*(?:[{[]|"\s*[{[])/.test(body)) return !isJson(body);
  const beginning = beginningOf(body);
  return beginning !== undefined && !isJson(body.slice(beginning));
}

const JSON_BEGINNING = /\{\s*(?:["}]|$)|\[\s*(?:["{[\]]|$)/y;

/** Where JSON begins behind warnings of PHP, or at a line of its own. A text may quote some elsewhere. */
function beginningOf(body: string): number | undefined {
  for (const { index } of body.matchAll(/[{[]/g)) {
    JSON_BEGINNING.lastIndex = index;
    if (JSON_BEGINNING.test(body) && isOnLine(body.slice(Math.max(0, index - LONGEST_WORD), index))) return index;
  }
  return undefined;
}

const LONGEST_WORD = 100;
/** Behind the end of a tag or of a line, and one word at most, such as `data:`. */
const isOnLine = (before: string): boolean => /(?:^|[\r\n>])[^\s>]*[ \t]*$/.test(before);

/**
 * Looks the ids up that the answer names, before it is believed: "already exists" may be about this very payment.
 *
 * @param limits of the create
 */
export async function examineRefusal(
  { status, body }: HttpAnswer,
  request: CheckedRequest,
  lookUp: LookUp,
  limits: CallLimits,
): Promise<Verdict> {
  const candidates = candidateIds(body, request.reference);
  if (candidates.length > MOST_CANDIDATES) return { outcome: 'unknown', paymentId: findPaymentId(body) };
  const unread: string[] = [];
  const read = async (paymentId: string) =>
    findAgain(paymentId, lookUp, limits).catch(error => {
      const saysNothing = saysNone(error) || isDenied(status, error);
      if (!saysNothing) unread.push(paymentId);
    });
  const payments = (await Promise.all(candidates.map(read))).filter(payment => payment !== undefined);
  const own = payments.find(payment => hasReference(payment, request.reference));
  const paymentId = own?.id ?? unread[0] ?? payments.find(payment => isPaymentOf(request, payment))?.id;
  return paymentId ? { outcome: 'unknown', paymentId } : { outcome: 'rejected' };
}

/** The record of a payment that was just made may be a moment behind: while there is time, it is looked up again. */
async function findAgain(paymentId: string, lookUp: LookUp, { deadline, signal }: CallLimits): Promise<Payment> {
  const readPayment = () => lookUp(paymentId, { timeout: deadline.timeout, signal });
  for (const pause of LAG_PAUSES) {
    try {
      return await readPayment();
    } catch (error) {
      if (!(error instanceof PaymentNotFoundError)) throw error;
      // Without the time to look again, nothing is known.
      if (deadline.remaining <= pause) throw new LateError();
      await delay(pause, signal);
    }
  }
  return readPayment();
}

/** A gateway that lets this client neither create nor look up has made no payment for it. */
const isDenied = (status: number, error: unknown): boolean =>
  isDenial(status) && error instanceof ApiError && isDenial(error.status);
