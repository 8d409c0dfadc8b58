// Orders: each attempt to pay one has its own reference, and one payment pays it.
import { type CreateOptions, readCreateOptions } from '../client-options.ts';
import { Deadline, delay } from '../deadline.ts';
import { adviceOn, InvalidRequestError, isGatewayError } from '../errors.ts';
import { canonicalAmount } from '../schemas/amount.ts';
import { isPaymentOf } from '../schemas/records/matching.ts';
import type { Payment } from '../schemas/records/payment.ts';
import { isFinal, isPaid } from '../schemas/records/payment-status.ts';
import { checkRequest } from '../schemas/requests/checked-request.ts';
import type { ApplePayDeposit, OnrampDeposit, PlainDeposit } from '../schemas/requests/request.ts';
import type { Written } from '../store/contract.ts';
import { answerWithin } from '../store/creates/change.ts';
import { reconcilePayment, settleKnown } from '../store/creates/doubts.ts';
import { notWritten, stopped } from '../store/creates/write-down.ts';
import { isUnderWay, knownIds } from '../store/rules/create-row.ts';
import { UNSEEN } from '../store/rules/fingerprint.ts';
import { withNextAction } from '../store/rules/kept.ts';
import { newOrder, type OrderData, orderDataOf } from '../store/rules/order-row.ts';
import { Call } from '../telemetry/call.ts';
import { type Created, create } from './create.ts';
import type { Gateway } from './gateway.ts';
import { lookUp } from './lookup.ts';
import { nextActionOf, type TransferInstructions } from './next-action.ts';
import { checkOrderId, createOfOrder, referenceOf } from './order-state.ts';
import { storeOf } from './references.ts';

/** The request of `checkout`: a deposit without a reference. */
export type CheckoutRequest = Omit<PlainDeposit, 'reference'> | Omit<ApplePayDeposit, 'reference'>;
/** The same for an on-ramp terminal. */
export interface OnrampCheckout extends Omit<OnrampDeposit, 'reference'> {}

/**
 * What to show the customer. `redirect`: send them to `redirectUrl`. `transfer`: show the instructions. `pending`: the
 * payment is accepted, and has no page: its callback brings the result. `paid`: the order is paid. `checking`: a
 * payment may exist, so show "we are checking". `declined`: this call's own attempt failed immediately. `canceled`: by
 * `cancelOrder`.
 */
export type Checkout =
  | { state: 'redirect'; redirectUrl: string; payment: Payment }
  | { state: 'transfer'; transfer: TransferInstructions; payment: Payment }
  | { state: 'pending' | 'declined'; payment: Payment }
  | { state: 'paid' | 'checking' | 'canceled'; payment?: Payment | undefined };

/** Milliseconds to wait for another call that makes the attempt, and between two reads of it. */
const LONGEST_WAIT = 3_000;
const PAUSE = 100;

const OWN_REFERENCE = { path: 'reference', message: 'must be left out: the order id determines it' };
const CHECKING = { state: 'checking' } as const;

export async function checkout(
  gateway: Gateway,
  orderId: string,
  request: object,
  options?: CreateOptions,
): Promise<Checkout> {
  const click = readClick(gateway, orderId, request, options);
  try {
    return await takeSteps(click);
  } catch (error) {
    if (click.mayExist) return CHECKING;
    if (isGatewayError(error)) throw error;
    const isAborted = click.signal?.aborted;
    throw isAborted ? stopped(orderId, 'aborted', 'not_sent') : notWritten(orderId, error, adviceOn('not_sent'));
  }
}

type Click = ReturnType<typeof readClick>;

function readClick(gateway: Gateway, orderId: string, input: object, options?: CreateOptions) {
  const store = storeOf(gateway, 'checkout');
  checkOrderId(orderId);
  if (Object(input).reference !== undefined) throw new InvalidRequestError([OWN_REFERENCE], 'not_sent');
  // Apple Pay requires a reference.
  const request = checkRequest(gateway, 'deposit', input, { reference: referenceOf(orderId, 1) });
  const { extra, signal, timeout = gateway.timeout } = readCreateOptions(options);
  const deadline = new Deadline(timeout);
  const call = new Call('lookup', gateway);
  const readPayment = (id: string) => lookUp(gateway, id, { timeout: deadline.timeout, signal }, call);
  /** `mayExist`: a create of this call may have made a payment. */
  return { gateway, store, call, readPayment, deadline, signal, orderId, request, extra, mayExist: false };
}

/** @throws the store's errors, and `LateError` at the deadline or the signal */
async function takeSteps(click: Click): Promise<Checkout> {
  const { store, orderId, request, signal, deadline } = click;
  const patience = new Deadline(Math.min(deadline.remaining, LONGEST_WAIT));
  const money = { amount: canonicalAmount(request.amount), currency: request.currency.toUpperCase() };
  const first = newOrder(orderId, { attempts: 1, ...money });
  let asked: Promise<Partial<Written>> = store.write(first);
  for (;;) {
    const { isWritten, row: stored } = await answerWithin(click, asked);
    const row = stored ?? (await answerWithin(click, store.read(first))).row ?? first;
    const order = orderDataOf(row);
    // The order shows the newest amount before its payment is sent.
    const step = isWritten ? await send(click, order.attempts) : await stepOf(click, order);
    if (typeof step === 'object') return step;
    if (step === 'again') {
      if (patience.remaining === 0) return CHECKING;
      await delay(PAUSE, signal);
      asked = store.read(first);
    } else asked = store.write({ ...row, data: { ...order, ...money, attempts: step } });
  }
}

/** Creates the payment of an attempt, unless another call does. */
async function send(click: Click, attempt: number): Promise<Checkout | 'again'> {
  const { gateway, request, orderId, extra, signal, deadline } = click;
  const options = { extra, signal, timeout: Math.ceil(deadline.timeout) };
  const deposit = { ...request, reference: referenceOf(orderId, attempt) };
  try {
    return pageOf(await create(gateway, 'deposit', deposit, options, { order: orderId }));
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    // Another call makes this attempt, or another create has its reference.
    if (error.name === 'PaymentInDoubtError' || error.name === 'DuplicateReferenceError') return 'again';
    if (error.outcome !== 'unknown') throw error;
    click.mayExist = true;
    return error.paymentId ? 'again' : CHECKING;
  }
}

/** Looks at the last attempt. @returns its page, the attempt to send, or `again` if it has changed */
async function stepOf(click: Click, order: OrderData): Promise<Checkout | 'again' | number> {
  const { store, orderId, request } = click;
  const row = await answerWithin(click, createOfOrder(store, orderId, order));
  if (order.paidBy) return { state: 'paid', payment: row?.result?.payment };
  if (order.isCanceled) return { state: 'canceled' };
  if (!row || row.state === 'freed') return order.attempts;
  const another = order.attempts + 1;
  // Another create has this reference. A row that a callback made may be this attempt's.
  if (row.order !== orderId && row.bodyHash !== UNSEEN) return another;
  if (isUnderWay(row)) return 'again';
  const { result: known } = row;
  if (!known) {
    const settling = answerWithin(click, settleKnown(click, row));
    if (await settling.catch(() => undefined)) return 'again';
    // Without an id, the customer never got its page, so a payment is unlikely. If there is one, it goes to review.
    const isUnlikely = knownIds(row).length === 0 && row.begunAt + row.timeoutMs < row.now;
    return isUnlikely ? another : CHECKING;
  }
  const { payment } = known;
  const seen = isFinal(payment) ? payment : await click.readPayment(payment.id).catch(() => payment);
  if (seen.paymentStatus !== payment.paymentStatus) await answerWithin(click, reconcilePayment(click, seen));
  if (isPaid(seen) || seen.paymentStatus === 'UNKNOWN') return { state: 'checking', payment: seen };
  if (isFinal(seen)) return another;
  if (seen.paymentStatus === 'AUTHORIZED') return { state: 'pending', payment: seen };
  if (row.paymentMethod !== request.paymentMethod || !isPaymentOf(row, request) || row.isAnswerLost) return another;
  return pageOf({ payment: seen, nextAction: nextActionOf(withNextAction(known, { payment: seen })) });
}

function pageOf({ payment, nextAction }: Pick<Created, 'payment' | 'nextAction'>): Checkout {
  if (isPaid(payment)) return { state: 'checking', payment };
  if (isFinal(payment)) return { state: 'declined', payment };
  const { type, ...page } = nextAction;
  return type === 'wait' ? { state: 'pending', payment } : ({ state: type, ...page, payment } as Checkout);
}
