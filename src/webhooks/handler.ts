// Takes callbacks: believes each only after a lookup, and lets each status of a payment take effect once.
import { Buffer } from 'node:buffer';
import process from 'node:process';
import { ConfigurationError, isGatewayError, WebhookError } from '../errors.ts';
import { observe } from '../events.ts';
import { limit } from '../limit.ts';
import { eventOf, type Inbox, type InboxResult } from '../once/inbox.ts';
import { memoryInbox } from '../once/memory.ts';
import { checkOptionNames } from '../option-names.ts';
import type { Payment } from '../schemas/payment.ts';
import { inTime } from '../time.ts';
import { parsedBodyOf, readRequestBody } from './body.ts';
import { confirm, type LookUp, readClaim } from './confirm.ts';

/** What the handler needs of a `GatewayClient`. */
export interface WebhookGateway {
  getPayment: LookUp;
  /** Settles the journal's doubt of a confirmed payment, before its status takes effect. */
  reconcile?(payment: Payment): Promise<void>;
}

export interface WebhookHandlerOptions<Context extends object = object> {
  /** Looks payments up: a `GatewayClient`. */
  gateway: WebhookGateway;
  /**
   * Your effect, with the gateway's own record. Look at `paymentType` before you credit anyone. What it throws makes
   * the handler answer 503 and leaves no mark, so that the callback may come again. With `postgresInbox` write with
   * `context.tx` alone; with another inbox make it idempotent.
   */
  onPayment: (payment: Payment, context: Context) => unknown;
  /**
   * Remembers which statuses have taken effect.
   * @default memoryInbox()
   */
  inbox?: Inbox<Context> | undefined;
  /**
   * Bytes of the largest body that is read.
   * @default 262_144
   */
  maxBodyBytes?: number | undefined;
  /**
   * Whether to take a callback at all: the place for a signature check, or an allow list of addresses, once the gateway
   * documents one. It gets the body's exact bytes.
   */
  verify?: ((request: Request, rawBody: Uint8Array) => boolean | Promise<boolean>) | undefined;
  /** Hears why a callback was not answered 200. What it throws changes nothing. */
  onError?: ((error: unknown) => unknown) | undefined;
}

/** A web-standard handler: `(Request) => Promise<Response>`, and the same work by payment id for sweeps. */
export interface WebhookHandler {
  /** Whatever else a runtime passes along is left alone. */
  (request: Request): Promise<Response>;
  /**
   * Looks a payment up and lets its status take effect, as its callback would have: for a sweep of open payments, since
   * the gateway documents no retries of callbacks.
   *
   * @throws what the lookup, the inbox or `onPayment` throws
   */
  process(paymentId: string): Promise<InboxResult>;
}

/** Lookups at a time, and callbacks that may wait for theirs. */
const LOOKUPS = 16;
const WAITING = 1000;

/** Seconds until a callback that could not be handled is worth another try. */
const RETRY_AFTER = { busy: 1, failed: 10 };

/**
 * Makes a handler of status callbacks. It answers 200 once a callback is handled, or was before; 400 to what can never
 * be valid; 401 to what `verify` refuses; 413 to a body that is too large; 503 with `Retry-After` when the lookup, the
 * inbox or `onPayment` failed, the record lags behind the callback, or another worker is at the payment.
 *
 * @example
 * const handler = createWebhookHandler({
 *   gateway,
 *   inbox: postgresInbox(pool),
 *   onPayment: async (payment, { tx }) => {
 *     if (payment.paymentType === 'DEPOSIT' && isPaid(payment)) await creditOrder(tx, payment.reference);
 *   },
 * });
 * export const POST = handler; // Next.js; or app.post('/callbacks', toNodeHandler(handler))
 */
export function createWebhookHandler<Context extends object = object>(
  options: WebhookHandlerOptions<Context>,
): WebhookHandler {
  checkOptions(options);
  const { gateway, onPayment, maxBodyBytes = 262_144, verify, onError = warnOf } = options;
  const inbox = options.inbox ?? (memoryInbox() as Inbox<Context>);
  const lookups = limit(LOOKUPS, WAITING);
  const lookUp: LookUp = (id, limits) => lookups(() => gateway.getPayment(id, limits));
  const inFlight = new Map<string, Promise<InboxResult>>();

  const line = inLine();

  const takeEffect = async (payment: Payment): Promise<InboxResult> => {
    await gateway.reconcile?.(payment);
    const event = eventOf(payment);
    return line(event.paymentId, () => inbox.run(event, async context => onPayment(payment, context)));
  };

  const takeClaim = async (body: Uint8Array | object): Promise<InboxResult> => {
    const { payment } = await confirm(readClaim(body), lookUp);
    return takeEffect(payment);
  };

  /** Byte-identical callbacks in flight share one lookup, and one effect. */
  const takeOnce = (body: Uint8Array): Promise<InboxResult> => {
    const key = Buffer.from(body).toString('latin1');
    const shared = inFlight.get(key) ?? takeClaim(body).finally(() => inFlight.delete(key));
    inFlight.set(key, shared);
    return shared;
  };

  const handle = async (request: Request): Promise<Response> => {
    try {
      const parsedBody = parsedBodyOf(request);
      if (request.method !== 'POST') return answer(405, 'callbacks are posted', { allow: 'POST' });
      if (parsedBody && !verify) return replyTo(await takeClaim(parsedBody));
      if (parsedBody) throw parsedBefore();
      const body = await readRequestBody(request, maxBodyBytes);
      if (verify && !(await verify(request, body))) return answer(401, 'refused');
      return replyTo(await takeOnce(body));
    } catch (error) {
      observe(onError, error);
      return replyToError(error);
    }
  };

  const sweep = async (paymentId: string): Promise<InboxResult> => takeEffect(await lookUp(paymentId, {}));
  return Object.assign(handle, { process: sweep });
}

const OPTIONS = ['gateway', 'onPayment', 'inbox', 'maxBodyBytes', 'verify', 'onError'];

/** What is wrong with a handler must show when it is made: later it would only show as callbacks that fail. */
function checkOptions(options: object): void {
  checkOptionNames('createWebhookHandler', options, OPTIONS);
  const { gateway, onPayment, inbox, maxBodyBytes, verify, onError } = options as Record<string, unknown>;
  const hasMethod = (value: unknown, name: string) =>
    typeof (value as Record<string, unknown> | null | undefined)?.[name] === 'function';
  const isFunction = (value: unknown) => value === undefined || typeof value === 'function';
  const mends: Record<string, boolean> = {
    'gateway must be a GatewayClient': hasMethod(gateway, 'getPayment'),
    'onPayment must be a function': typeof onPayment === 'function',
    'inbox must be an inbox, such as postgresInbox(pool)': inbox === undefined || hasMethod(inbox, 'run'),
    'maxBodyBytes must be a number of bytes, more than 0':
      maxBodyBytes === undefined || (typeof maxBodyBytes === 'number' && maxBodyBytes > 0),
    'verify must be a function': isFunction(verify),
    'onError must be a function': isFunction(onError),
  };
  const wrong = Object.keys(mends).filter(mend => !mends[mend]);
  if (wrong.length > 0) throw new ConfigurationError(`createWebhookHandler: ${wrong.join('; ')}.`);
}

/** Without an onError, a failure would be a 503 that nobody has heard of. Its words may hold customer data. */
function warnOf(error: unknown): void {
  if (isGatewayError(error) && error.name === 'WebhookError') return;
  const name = error instanceof Error ? error.name : typeof error;
  process.emitWarning(
    `A callback was answered 503: ${name}. Pass onError to hear why.`,
    'PaymentGatewayWarning',
  );
}

/** Milliseconds that one callback waits for another of the same payment before it is answered `busy`. */
const LONGEST_TURN = 5_000;

/**
 * Within this process, callbacks of one payment take turns: two that come at once would else find the inbox busy, and
 * the gateway documents no second delivery.
 */
function inLine() {
  const last = new Map<string, Promise<unknown>>();
  return (paymentId: string, work: () => Promise<InboxResult>): Promise<InboxResult> => {
    const before = last.get(paymentId);
    const turn = before ? before.then(work, work) : work();
    last.set(paymentId, turn);
    const leave = () => last.get(paymentId) === turn && last.delete(paymentId);
    turn.then(leave, leave);
    return before ? inTime(turn, LONGEST_TURN, () => 'busy') : turn;
  };
}

const parsedBefore = () =>
  new WebhookError(
    'already_parsed',
    'A framework parsed the body before `verify` could see its bytes: leave JSON parsing off for this route, or keep the raw bytes (express.raw, rawBody: true).',
  );

function replyTo(result: InboxResult): Response {
  if (result === 'busy') return answer(503, 'busy', { 'retry-after': String(RETRY_AFTER.busy) });
  return answer(200, result === 'ran' ? 'handled' : 'handled before');
}

/** What can never be valid is refused for good; everything else may come again, so that nothing is lost. */
function replyToError(error: unknown): Response {
  if (isGatewayError(error) && error.name === 'WebhookError' && error.code !== 'already_parsed') {
    return answer(error.code === 'too_large' ? 413 : 400, error.code);
  }
  return answer(503, 'failed', { 'retry-after': String(RETRY_AFTER.failed) });
}

const answer = (status: number, text: string, headers: Record<string, string> = {}): Response =>
  new Response(text, { status, headers: { 'content-type': 'text/plain', ...headers } });
