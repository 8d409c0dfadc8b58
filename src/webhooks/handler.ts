// The merchant's endpoint for callbacks: a web-standard function from a Request to a Response.
import { leaving, withTimeout } from '../deadline.ts';
import { ConfigurationError } from '../errors.ts';
import { rawStatusOf } from '../schemas/records/payment-status.ts';
import { change, ownerOf } from '../store/creates/change.ts';
import { Call } from '../telemetry/call.ts';
import { notify } from '../telemetry/events.ts';
import { HANDLER, type HandlerLink } from '../upkeep/handler-link.ts';
import { reviewRefused } from './effect.ts';
import { type Endpoint, LONGEST_ANSWER, openEndpoint, type WebhookHandlerOptions } from './endpoint.ts';
import { processCallback, sweepPayment, UNSIGNED } from './process.ts';
import { answer, type End, endOf, reportFailure, reportStep, unhandled } from './reply.ts';
import { claimOf } from './request-body.ts';

/** A web-standard handler, also for `upkeep`. It ignores further arguments, which some runtimes pass. */
export interface WebhookHandler {
  (request: Request): Promise<Response>;
  readonly [HANDLER]: HandlerLink;
}

/** Milliseconds that an answer waits for its note. */
const LONGEST_NOTE = 1_000;
const LONGEST_WORK = LONGEST_ANSWER - LONGEST_NOTE;

const NOT_WEB_STANDARD =
  'A webhook handler takes a web-standard Request. Give Express, Fastify, Nest and node:http toNodeHandler(handler), and Hono ({ req }) => handler(req.raw).';
const TOO_LATE = `A callback was not handled within ${LONGEST_WORK} ms, and was answered 503. Work that has started continues.`;

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
  const endpoint = openEndpoint(options as WebhookHandlerOptions);
  const handle = async (request: Request) => {
    if (typeof request?.headers?.get !== 'function') throw new ConfigurationError(NOT_WEB_STANDARD);
    if (request.method !== 'POST') return answer(405, 'callbacks are posted', { allow: 'POST' });
    const call = new Call('callback');
    return call.traced(() => handlePosted(endpoint, request, call));
  };
  const link: HandlerLink = {
    store: endpoint.link?.store,
    process: (paymentId, limits) => sweepPayment(endpoint, paymentId.toLowerCase(), limits),
    reviewRefused: refused => reviewRefused(endpoint, refused),
  };
  return Object.assign(handle, { [HANDLER]: link });
}

/** Answers a callback in time. Longer work continues, without another report. */
async function handlePosted(endpoint: Endpoint, request: Request, call: Call) {
  const leave = new AbortController();
  const handling = withTimeout(handleCallback(endpoint, request, call, leave.signal), LONGEST_WORK, () => {
    leave.abort();
    throw unhandled('busy', TOO_LATE, call.paymentId);
  });
  const { step, response } = await handling.catch(error => {
    const end = endOf(error);
    if (end.step.result === 'refused') notify(endpoint.onError, error);
    else reportFailure(endpoint, error, 'A callback was answered 503');
    return end;
  });
  reportStep(endpoint, call, { ...step, httpStatus: response.status });
  // The gateway may send no second callback.
  if (response.status === 503 && call.paymentId) await note(endpoint, call.paymentId);
  return response;
}

async function handleCallback(endpoint: Endpoint, request: Request, call: Call, signal: AbortSignal): Promise<End> {
  const token = endpoint.link?.tokens.check(request.url);
  call.lane = token === undefined ? 'unsigned' : 'signed';
  if (token === undefined && endpoint.unsigned === 'refuse') throw unhandled('unsigned', UNSIGNED);
  const claim = await claimOf(endpoint, request, signal);
  call.paymentId = claim.id;
  reportStep(endpoint, call, { result: 'received' });
  const { result, payment } = await processCallback(endpoint, { ...claim, call, token, signal });
  const busy = `Another worker is processing payment ${payment.id}. A later callback or upkeep retries.`;
  if (result === 'busy') throw unhandled('busy', busy, payment.id);
  const response = answer(200, result === 'ran' ? 'handled' : 'handled before');
  return { step: { result, paymentStatus: rawStatusOf(payment) }, response };
}

/** Makes a payment due for upkeep, if the client's store knows it. Never rejects. */
async function note({ link, notes }: Endpoint, paymentId: string) {
  const store = link?.store;
  if (!store) return;
  const makeDue = async () => {
    const owner = await ownerOf(store, paymentId);
    if (owner) await change(store, owner, row => ({ next: row && { ...row, dueAt: row.now } }), owner);
  };
  // A flood of one payment makes one note at a time.
  const noting = notes.get(paymentId) ?? makeDue().finally(() => notes.delete(paymentId));
  notes.set(paymentId, noting);
  await leaving(noting, { ms: LONGEST_NOTE });
}
