// The merchant's endpoint for callbacks: a web-standard function from a Request to a Response.
import * as z from 'zod';
import { withTimeout } from '../deadline.ts';
import { ConfigurationError, WebhookError } from '../errors.ts';
import type { Inbox, Processed } from '../inbox/contract.ts';
import { memoryInbox } from '../inbox/memory.ts';
import { argumentReader, callFields, functionOf, objectWith, oneOf, optionsReader } from '../options/reader.ts';
import { isPaymentId } from '../schemas/id.ts';
import type { Payment } from '../schemas/payment.ts';
import { rawStatusOf } from '../schemas/payment-status.ts';
import { Call, labelOf } from '../telemetry/call.ts';
import { traced } from '../telemetry/channels.ts';
import { type CallbackEvent, emitWarning, notify } from '../telemetry/events.ts';
import { type ClaimDigest, readClaim } from './claim.ts';
import type { CallbackContext, Warn } from './effect.ts';
import { createProcess, type ProcessOptions, unsignedCallback, type WebhookGateway } from './process.ts';
import { answer, type CallbackReport, failureOf, isRefusedForGood, replyTo, replyToError } from './reply.ts';
import { lengthOf, parsedBodyOf, readRequestBody, tooLarge } from './request-body.ts';

/** The options of a webhook handler. */
export interface WebhookHandlerOptions<Context extends object = object> {
  /** The `GatewayClient` that looks payments up. */
  gateway: WebhookGateway;
  /**
   * Your effect, with the gateway's own record. Check `paymentType` before you credit anyone. If it throws, the handler
   * answers 503 and leaves no mark, so that the callback may come again. With `postgresInbox`, write only with
   * `context.tx`. With another inbox, make it idempotent.
   */
  onPayment: (payment: Payment, context: Context & CallbackContext) => unknown;
  /**
   * Remembers which statuses have taken effect.
   * @default memoryInbox()
   */
  inbox?: Inbox<Context> | undefined;
  /**
   * The largest body to read, in bytes.
   * @default 262_144
   */
  maxBodyBytes?: number | undefined;
  /**
   * Decides whether to accept a callback, from the body's exact bytes. Use it for a signature check or an allow list of
   * addresses, once the gateway documents one.
   */
  verify?: ((request: Request, rawBody: Uint8Array) => boolean | Promise<boolean>) | undefined;
  /**
   * The treatment of callbacks without the token of `signCallbackUrls` in their address. `limit` accepts them in a
   * separate, narrow lane. `refuse` answers 401, and needs a gateway with `signCallbackUrls`.
   * @default 'limit'
   */
  unsigned?: 'limit' | 'refuse' | undefined;
  /**
   * Gets the error of a callback that was not answered 200, and of a function passed to `afterCommit`. Its own errors
   * change nothing.
   */
  onError?: ((error: unknown) => unknown) | undefined;
  /** Gets the result of every callback, and warnings for an operator, without secrets or customer data. */
  onEvent?: ((event: CallbackEvent) => void) | undefined;
}

/** A web-standard handler: `(Request) => Promise<Response>`, and the same work by payment id for sweeps. */
export interface WebhookHandler {
  /** Ignores further arguments, which some runtimes pass. */
  (request: Request): Promise<Response>;
  /**
   * Looks a payment up and applies its status as its callback would, for a sweep of open payments.
   *
   * @throws {InvalidRequestError} if the id is not a UUID
   * @throws {WaitTimeoutError} after `timeout`, or after 25 s if other work on the payment does not end
   * @throws any error of the lookup, the inbox or `onPayment`
   */
  process(paymentId: string, options?: ProcessOptions): Promise<Processed>;
  /** Whether its gateway has a journal. Without one, the payments that it confirms settle no doubt. */
  readonly hasJournal?: boolean | undefined;
}

const BYTES = { error: 'must be a number of bytes, more than 0 and finite' };

const readFields = optionsReader<WebhookHandlerOptions>()('createWebhookHandler', {
  gateway: objectWith<WebhookGateway>(['getPayment'], 'must be a GatewayClient'),
  onPayment: functionOf<WebhookHandlerOptions['onPayment']>(),
  inbox: objectWith<Inbox>(['run'], 'must be an inbox, such as postgresInbox(pool)').optional(),
  maxBodyBytes: z.number(BYTES).positive(BYTES).default(262_144),
  verify: functionOf<NonNullable<WebhookHandlerOptions['verify']>>().optional(),
  unsigned: oneOf(['limit', 'refuse']).default('limit'),
  onError: functionOf<NonNullable<WebhookHandlerOptions['onError']>>().optional(),
  onEvent: functionOf<NonNullable<WebhookHandlerOptions['onEvent']>>().optional(),
});

const readProcessOptions = argumentReader<ProcessOptions>()(callFields);

/** Milliseconds from a callback's arrival to its answer: the sender gives up at about 30 s. */
const LONGEST_ANSWER = 25_000;
/** The reason that ends the wait for a place. */
const LEFT = new Error('The callback was answered before its turn.');

/**
 * Makes a handler of status callbacks, with an answer within 25 s. 200: the callback is handled, now or before. 400: it
 * can never be valid. 401: `verify` or `unsigned: 'refuse'` refuses it. 413: its body is too large. 503 with
 * `Retry-After`: it may succeed later. The handler rejects only arguments other than a `Request`.
 *
 * @throws {ConfigurationError} for a missing or invalid option
 * @example
 * const handler = createWebhookHandler({
 *   gateway,
 *   inbox: postgresInbox(pool),
 *   onPayment: async (payment, { tx, afterCommit }) => {
 *     if (payment.paymentType === 'WITHDRAWAL') return recordPayout(tx, payment);
 *     if (!isPaid(payment)) return;
 *     await creditOrder(tx, payment); // compares reference, amount and currency
 *     afterCommit(() => sendReceipt(payment.reference));
 *   },
 * });
 * Bun.serve({ fetch: handler }); // or app.post('/callbacks', toNodeHandler(handler))
 */
export function createWebhookHandler<Context extends object = object>(
  options: WebhookHandlerOptions<Context>,
): WebhookHandler {
  const fields = readFields(options);
  const { gateway, onPayment, inbox = memoryInbox(), maxBodyBytes, verify, unsigned, onEvent } = fields;
  checkTokens(gateway, unsigned);
  // Without a listener a failure would stay unseen.
  const onFailure = fields.onError ?? (onEvent && (() => {}));
  const { onError, onAfterCommitError } = onFailure
    ? { onError: onFailure, onAfterCommitError: onFailure }
    : { onError: warnOfAnswer, onAfterCommitError: warnOfAfterCommit };
  const warn: Warn = (about, code, message) =>
    notify(onEvent, { ...about, operation: 'callback', type: 'warning', code, message });
  const callbacks = createProcess({ gateway, inbox, onPayment, unsigned, onAfterCommitError, warn });

  const tokenOf = (request: Request): string | undefined => {
    try {
      return gateway.checkCallbackUrl?.(request.url);
    } catch {
      return undefined;
    }
  };

  /** Reads the claim of a callback, without keeping the body. */
  const read = async (request: Request): Promise<ClaimDigest> => {
    const parsed = parsedBodyOf(request);
    if (parsed) {
      if (verify) throw parsedBefore();
      if (lengthOf(request) > maxBodyBytes) throw tooLarge(maxBodyBytes);
      return readClaim(parsed.body);
    }
    const body = await readRequestBody(request, maxBodyBytes);
    if (verify && !(await verify(request, body))) throw refusedByVerify();
    return readClaim(body);
  };

  /** Reports the result of a callback, or of a payment that a sweep processes. */
  const report = (call: Call, { result, ...step }: CallbackReport): void => {
    const { callId, paymentId, lane = 'sweep', durationMs } = call;
    if (result !== 'received') Object.assign(call, { outcome: result, ...step });
    const about = { callId, operation: 'callback', paymentId } as const;
    notify(onEvent, { ...about, type: 'callback', result, lane, ...step, durationMs });
  };

  const handlePosted = async (request: Request, call: Call): Promise<Response> => {
    const token = tokenOf(request);
    const lane = token === undefined ? 'unsigned' : 'signed';
    call.lane = lane;
    const answered = new AbortController();

    const conclude = (step: CallbackReport, { status }: Response) =>
      report(call, { ...step, ...(!answered.signal.aborted && { httpStatus: status }) });
    const succeed = ({ result, payment }: Processed): Response => {
      if (result === 'busy') return fail(taken(payment.id));
      const response = replyTo(result);
      conclude({ result, paymentStatus: rawStatusOf(payment) }, response);
      return response;
    };
    const fail = (error: unknown): Response => {
      const response = replyToError(error);
      notify(onError, error);
      conclude(failureOf(error), response);
      return response;
    };
    const take = async (): Promise<Processed> => {
      if (token === undefined && unsigned === 'refuse') throw unsignedCallback();
      const claim = await read(request);
      call.paymentId = claim.paymentId;
      report(call, { result: 'received' });
      return callbacks.callback({ claim, token, callId: call.callId }, lane, answered.signal);
    };

    const late = () => fail(tooLate(call.paymentId));
    // A callback that is answered already leaves the queue without another report.
    const failUnlessLeft = (error: unknown) => (error === LEFT ? replyToError(error) : fail(error));
    try {
      return await withTimeout(take().then(succeed, failUnlessLeft), LONGEST_ANSWER, late);
    } finally {
      answered.abort(LEFT);
    }
  };

  const handle = async (request: Request): Promise<Response> => {
    if (typeof request?.headers?.get !== 'function') throw notWebStandard();
    if (request.method !== 'POST') return answer(405, 'callbacks are posted', { allow: 'POST' });
    const call = new Call('callback', {});
    return traced(call, () => handlePosted(request, call));
  };

  const process = async (id: string, options?: ProcessOptions): Promise<Processed> => {
    const call = new Call('callback', {});
    call.lane = 'sweep';
    return traced(call, async () => {
      // Any other value stays out of events: it may be anything.
      if (isPaymentId(id)) call.paymentId = id.toLowerCase();
      try {
        const processed = await callbacks.sweep(id, call.callId, readProcessOptions(options));
        report(call, { result: processed.result, paymentStatus: rawStatusOf(processed.payment) });
        return processed;
      } catch (error) {
        report(call, failureOf(error));
        throw error;
      }
    });
  };

  return Object.assign(handle, { process, hasJournal: gateway.hasJournal });
}

/** @throws {ConfigurationError} for a gateway whose creates carry no token to check */
function checkTokens({ checkCallbackUrl, isCallbackOf, signCallbackUrls }: WebhookGateway, unsigned: string): void {
  const canCheck = typeof checkCallbackUrl === 'function' && typeof isCallbackOf === 'function';
  if (unsigned === 'limit' || (canCheck && signCallbackUrls !== false)) return;
  throw new ConfigurationError(
    "createWebhookHandler: unsigned: 'refuse' needs a gateway that signs its callbacks: new GatewayClient({ signCallbackUrls: true }).",
  );
}

/** Warns without the error's message, which may contain customer data. */
function warnOfAnswer(error: unknown): void {
  if (isRefusedForGood(error)) return;
  emitWarning(`A callback was answered 503: ${labelOf(error)}. Pass onError to get the error.`);
}

const warnOfAfterCommit = (error: unknown): void =>
  emitWarning(`What onPayment passed to afterCommit failed: ${labelOf(error)}. Pass onError to get the error.`);

const notWebStandard = () =>
  new ConfigurationError(
    'A webhook handler takes a web-standard Request. Give Express, Fastify, Nest and node:http toNodeHandler(handler), and Hono ({ req }) => handler(req.raw).',
  );

const parsedBefore = () =>
  new WebhookError(
    'already_parsed',
    'A framework parsed the body before `verify` could see its bytes: turn JSON parsing off for this route, or keep the raw bytes (express.raw, rawBody: true).',
  );

const refusedByVerify = () => new WebhookError('refused', 'Your `verify` refused a callback.');

const taken = (paymentId: string) =>
  new WebhookError('busy', `Another worker has payment ${paymentId}: take its callback again in a moment.`, [], {
    paymentId,
  });

const tooLate = (paymentId: string | undefined) =>
  new WebhookError(
    'busy',
    `A callback was not handled within ${LONGEST_ANSWER} ms, and was answered 503. Work that has started continues.`,
    [],
    { paymentId },
  );
