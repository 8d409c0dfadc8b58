// The merchant's endpoint for callbacks: a web-standard function from a Request to a Response.
import * as z from 'zod';
import { withTimeout } from '../deadline.ts';
import { ConfigurationError } from '../errors.ts';
import { functionOf, objectWith, oneOf, optionsReader } from '../options/reader.ts';
import { each } from '../schemas/fields-of.ts';
import { rawStatusOf } from '../schemas/records/payment-status.ts';
import type { Store } from '../store/contract.ts';
import { storeInMemory } from '../store/memory.ts';
import { HANDLER, type HandlerLink } from '../store/upkeep/handler-link.ts';
import { Call, labelOf } from '../telemetry/call.ts';
import { type CallbackEvent, emitWarning, notify, warnOfForgetting } from '../telemetry/events.ts';
import { type Claim, isBehind, readClaim } from './claim.ts';
import { CLIENT, type ClientLink } from './client-link.ts';
import type { Reports } from './effect.ts';
import { FUNCTIONS, type Functions } from './functions.ts';
import { createNote, LONGEST_NOTE } from './note.ts';
import { createProcess, unsignedCallback, type WebhookGateway } from './process.ts';
import { answer, type CallbackReport, endOf, unhandled } from './reply.ts';
import { lengthOf, parsedBodyOf, readRequestBody, tooLarge } from './request-body.ts';

/** The options of a webhook handler. */
export interface WebhookHandlerOptions<Tx = unknown> extends Functions<Tx> {
  /** The `GatewayClient` that creates the payments. Its store is the handler's. */
  gateway: WebhookGateway<Tx>;
  /**
   * Milliseconds for the functions of one callback, at most 25,000. Then the SDK rolls back, answers 503, and runs them
   * again later.
   * @default 20_000
   */
  effectTimeout?: number | undefined;
  /**
   * The largest body to read, in bytes.
   * @default 262_144
   */
  maxBodyBytes?: number | undefined;
  /**
   * Decides whether to accept a callback, by its request and the body's exact bytes. Use it for a signature check or an
   * allow list of addresses, once the gateway documents one.
   */
  verify?: ((request: Request, rawBody: Uint8Array) => boolean | Promise<boolean>) | undefined;
  /**
   * How to treat callbacks without a valid token of `signCallbackUrls` in their address. `limit` accepts them, but
   * processes fewer concurrently. `refuse` answers 401, and needs a client with `signCallbackUrls`.
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

/** A web-standard handler. `upkeep` takes it too. It ignores further arguments, which some runtimes pass. */
export interface WebhookHandler {
  (request: Request): Promise<Response>;
  /** For upkeep. */
  readonly [HANDLER]: HandlerLink;
}

/** Milliseconds from a callback's arrival to its answer: the sender gives up at about 30 s. */
const LONGEST_ANSWER = 25_000;
const LONGEST_WORK = LONGEST_ANSWER - LONGEST_NOTE;
const TIMEOUT = { error: 'must be milliseconds, more than 0 and at most 25,000' };
const BYTES = { error: 'must be a number of bytes, more than 0 and finite' };

const readFields = optionsReader<WebhookHandlerOptions>()('createWebhookHandler', {
  gateway: objectWith<WebhookGateway>(['getPayment'], 'must be a GatewayClient'),
  ...each([...FUNCTIONS, 'verify', 'onError', 'onEvent'] as const, functionOf<never>().optional()),
  effectTimeout: z.number(TIMEOUT).positive(TIMEOUT).max(LONGEST_ANSWER, TIMEOUT).default(20_000),
  maxBodyBytes: z.number(BYTES).positive(BYTES).default(262_144),
  unsigned: oneOf(['limit', 'refuse']).default('limit'),
});

/**
 * Makes a handler of status callbacks, with an answer within 25 s. It looks each payment up, and calls the function of
 * its outcome once. 200: the callback is handled, now or before. 400: it can never be valid. 401: `verify` or
 * `unsigned: 'refuse'` refuses it. 413: its body is too large. 503 with `Retry-After`: it may succeed later.
 *
 * @throws {ConfigurationError} for a missing or invalid option, or without a function
 * @example
 * const handler = createWebhookHandler({
 *   gateway,
 *   onPaid: async ({ order }, { tx, afterCommit }) => {
 *     await tx.query('update orders set paid = true where id = $1', [order]);
 *     afterCommit(() => sendReceipt(order));
 *   },
 *   onReversed: ({ order }, { tx }) => tx.query('update orders set paid = false where id = $1', [order]),
 * });
 * Bun.serve({ fetch: handler }); // or app.post('/callbacks', toNodeHandler(handler))
 */
export function createWebhookHandler<Tx = unknown>(options: WebhookHandlerOptions<Tx>): WebhookHandler {
  const { gateway, effectTimeout, maxBodyBytes, verify, unsigned, onEvent, onError, ...functions } = readFields(
    options as WebhookHandlerOptions,
  ) as WebhookHandlerOptions<Tx> & Pick<ReturnType<typeof readFields>, 'effectTimeout' | 'maxBodyBytes' | 'unsigned'>;
  const link = gateway[CLIENT];
  checkFunctions(functions, link);
  checkTokens(link, unsigned);
  const reports = reportsTo(onEvent, onError);
  const store = link?.store ?? storeOfProcess<Tx>();
  const note = createNote(link);
  const callbacks = createProcess({ gateway, link, store, functions, effectTimeout, unsigned, reports });

  /** Reads the claim of a callback, without keeping the body. */
  const read = async (request: Request): Promise<Claim> => {
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
    const token = link?.tokens.check(request.url);
    const lane = token === undefined ? 'unsigned' : 'signed';
    call.lane = lane;
    const answered = new AbortController();
    /** The claim is an earlier status: a late delivery, or a chargeback that the record does not show yet. */
    let isDue = false;

    const conclude = (step: CallbackReport, response: Response): Response => {
      report(call, { ...step, ...(!answered.signal.aborted && { httpStatus: response.status }) });
      return response;
    };
    const fail = (error: unknown): Response => {
      const { step, response } = endOf(error);
      // A callback that is answered already leaves the queue without another report.
      if (error === answered.signal.reason) return response;
      reports.failed(error, step.result === 'refused');
      return conclude(step, response);
    };
    const take = async (): Promise<Response> => {
      if (token === undefined && unsigned === 'refuse') throw unsignedCallback();
      const claim = await read(request);
      call.paymentId = claim.id;
      report(call, { result: 'received' });
      const callback = { claim, token, callId: call.callId };
      const { result, payment } = await callbacks.callback(callback, lane, answered.signal);
      if (result === 'busy') throw taken(payment.id);
      isDue = isBehind(payment, claim);
      const response = answer(200, result === 'ran' ? 'handled' : 'handled before');
      return conclude({ result, paymentStatus: rawStatusOf(payment) }, response);
    };
    const response = await withTimeout(take().catch(fail), LONGEST_WORK, () => {
      const late = fail(tooLate(call.paymentId));
      answered.abort();
      return late;
    });
    if (call.paymentId && (isDue || response.status === 503)) await note(call.paymentId);
    return response;
  };

  const handle = async (request: Request): Promise<Response> => {
    if (typeof request?.headers?.get !== 'function') throw notWebStandard();
    if (request.method !== 'POST') return answer(405, 'callbacks are posted', { allow: 'POST' });
    const call = new Call('callback', {});
    return call.traced(() => handlePosted(request, call));
  };

  const process: HandlerLink['process'] = async (paymentId, limits) => {
    const call = new Call('callback', {});
    call.lane = 'sweep';
    const id = paymentId.toLowerCase();
    call.paymentId = id;
    return call.traced(async () => {
      try {
        const processed = await callbacks.sweep(id, call.callId, limits);
        report(call, { result: processed.result, paymentStatus: rawStatusOf(processed.payment) });
        return processed;
      } catch (error) {
        report(call, endOf(error).step);
        throw error;
      }
    });
  };

  const reviewRefused = (reference: string) => callbacks.reviewRefused(reference, new Call('callback', {}).callId);
  return Object.assign(handle, { [HANDLER]: { store: link?.store, process, reviewRefused } });
}

/** Remembers handled statuses for a client without a store. */
function storeOfProcess<Tx>(): Store<Tx> {
  warnOfForgetting('A handler whose gateway has no store forgets which callbacks were handled', 'a store');
  return storeInMemory({}) as unknown as Store<Tx>;
}

/** @throws {ConfigurationError} without a function, or for one that needs a store */
function checkFunctions<Tx>(functions: Functions<Tx>, link: ClientLink<Tx> | undefined): void {
  const given = FUNCTIONS.filter(name => functions[name]);
  if (given.length === 0)
    throw new ConfigurationError(`createWebhookHandler: pass a function, such as ${FUNCTIONS.slice(0, 4).join(', ')}.`);
  const needing = given.filter(name => name !== 'onPayment');
  if (link?.store || needing.length === 0) return;
  throw new ConfigurationError(
    `createWebhookHandler: ${needing.join(', ')} ${needing.length === 1 ? 'needs' : 'need'} a client with a store: new GatewayClient({ store: postgresStore(pool, { scope }) }), or memoryStore() in development.`,
  );
}

/** @throws {ConfigurationError} for a gateway whose creates carry no token to check */
function checkTokens(link: ClientLink | undefined, unsigned: string): void {
  if (unsigned === 'limit' || link?.signCallbackUrls) return;
  throw new ConfigurationError(
    "createWebhookHandler: unsigned: 'refuse' needs a client that signs callback addresses: new GatewayClient({ signCallbackUrls: true }).",
  );
}

/** Reports to the listeners. Without any, failures become warnings of the process, without possible customer data. */
function reportsTo(
  onEvent: ((event: CallbackEvent) => void) | undefined,
  onError: ((error: unknown) => unknown) | undefined,
) {
  const fail = (error: unknown, event: string) => {
    notify(onError, error);
    if (!onError && !onEvent) emitWarning(`${event}: ${labelOf(error)}. Pass onError to get the error.`);
  };
  const warn: Reports['warn'] = (about, code, message) =>
    notify(onEvent, { ...about, operation: 'callback', type: 'warning', code, message });
  return {
    warn,
    review(about, { reason, reference, order }) {
      notify(onEvent, { ...about, operation: 'callback', type: 'review', reason, reference, order });
      if (!onEvent) emitWarning(`Payment ${about.paymentId} needs a review (${reason}): see gateway.reviews().`);
    },
    afterCommitFailed(about, error) {
      const message = `A function passed to afterCommit failed for payment ${about.paymentId}. It does not run again.`;
      warn(about, 'after_commit_failed', message);
      fail(error, 'A function passed to afterCommit failed');
    },
    failed(error: unknown, isRefused: boolean) {
      if (isRefused) notify(onError, error);
      else fail(error, 'A callback was answered 503');
    },
  } satisfies Reports & { failed: unknown };
}

const notWebStandard = () =>
  new ConfigurationError(
    'A webhook handler takes a web-standard Request. Give Express, Fastify, Nest and node:http toNodeHandler(handler), and Hono ({ req }) => handler(req.raw).',
  );

const parsedBefore = () =>
  unhandled(
    'already_parsed',
    'A framework parsed the body before `verify` could see its bytes: turn JSON parsing off for this route, or keep the raw bytes (express.raw, rawBody: true).',
  );

const refusedByVerify = () => unhandled('refused', 'Your `verify` refused a callback.');

const taken = (paymentId: string) =>
  unhandled(
    'busy',
    `Another worker is processing payment ${paymentId}. A later callback or upkeep retries.`,
    paymentId,
  );

const tooLate = (paymentId: string | undefined) =>
  unhandled(
    'busy',
    `A callback was not handled within ${LONGEST_WORK} ms, and was answered 503. Work that has started continues.`,
    paymentId,
  );
