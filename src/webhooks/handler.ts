// The merchant's endpoint for callbacks: a web-standard function from a Request to a Response.
import * as z from 'zod';
import { isGatewayError, WebhookError } from '../errors.ts';
import { emitWarning, notify } from '../events.ts';
import type { Inbox, InboxResult } from '../inbox/contract.ts';
import { memoryInbox } from '../inbox/memory.ts';
import type { Payment } from '../schemas/payment.ts';
import { functionOf, objectWith, optionsReader } from '../schemas/read-options.ts';
import { createProcess, type WebhookGateway } from './process.ts';
import { parsedBodyOf, readRequestBody } from './request-body.ts';

/** What a webhook handler is made with. */
export interface WebhookHandlerOptions<Context extends object = object> {
  /** Looks payments up: a `GatewayClient`. */
  gateway: WebhookGateway;
  /**
   * Your effect, with the gateway's own record. Look at `paymentType` before you credit anyone. If it throws, the
   * handler answers 503 and leaves no mark, so that the callback may come again. With `postgresInbox` write only with
   * `context.tx`; with another inbox make it idempotent.
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
  /** Gets the error if a callback was not answered 200. What it throws changes nothing. */
  onError?: ((error: unknown) => unknown) | undefined;
}

/** A web-standard handler: `(Request) => Promise<Response>`, and the same work by payment id for sweeps. */
export interface WebhookHandler {
  /** Further arguments, which some runtimes pass, are ignored. */
  (request: Request): Promise<Response>;
  /**
   * Looks a payment up and lets its status take effect, as its callback would have: for a sweep of open payments.
   *
   * @throws what the lookup, the inbox or `onPayment` throws
   */
  process(paymentId: string): Promise<InboxResult>;
}

const BYTES = { error: 'must be a number of bytes, more than 0 and finite' };

const readFields = optionsReader<WebhookHandlerOptions>()('createWebhookHandler', {
  gateway: objectWith<WebhookGateway>(['getPayment'], 'must be a GatewayClient'),
  onPayment: functionOf<WebhookHandlerOptions['onPayment']>(),
  inbox: objectWith<Inbox>(['run'], 'must be an inbox, such as postgresInbox(pool)').optional(),
  maxBodyBytes: z.number(BYTES).positive(BYTES).default(262_144),
  verify: functionOf<NonNullable<WebhookHandlerOptions['verify']>>().optional(),
  onError: functionOf<NonNullable<WebhookHandlerOptions['onError']>>().default(() => warnOf),
});

/** Seconds until a callback that was not handled is worth another try. */
const RETRY_AFTER = { busy: 1, failed: 10 };

/**
 * Makes a handler of status callbacks. It answers 200 once a callback is handled, or was before; 400 to what can never
 * be valid; 401 to what `verify` refuses; 413 to a body that is too large; 503 with `Retry-After` when the lookup, the
 * inbox or `onPayment` failed, the record lags behind the callback, or another worker has the payment.
 *
 * @throws {ConfigurationError} for an option that is missing or refused
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
  const { gateway, onPayment, inbox = memoryInbox(), maxBodyBytes, verify, onError } = readFields(options);
  const callbacks = createProcess({ gateway, onPayment, inbox });

  const handle = async (request: Request): Promise<Response> => {
    try {
      const parsedBody = parsedBodyOf(request);
      if (request.method !== 'POST') return answer(405, 'callbacks are posted', { allow: 'POST' });
      if (parsedBody && !verify) return replyTo(await callbacks.parsedBody(parsedBody));
      if (parsedBody) throw parsedBefore();
      const body = await readRequestBody(request, maxBodyBytes);
      if (verify && !(await verify(request, body))) return answer(401, 'refused');
      return replyTo(await callbacks.body(body));
    } catch (error) {
      notify(onError, error);
      return replyToError(error);
    }
  };
  return Object.assign(handle, { process: callbacks.payment });
}

/** Without an onError a failure would stay unseen. The error's message may hold customer data. */
function warnOf(error: unknown): void {
  if (isGatewayError(error) && error.name === 'WebhookError') return;
  const name = error instanceof Error ? error.name : typeof error;
  emitWarning(`A callback was answered 503: ${name}. Pass onError to get the error.`);
}

const parsedBefore = () =>
  new WebhookError(
    'already_parsed',
    'A framework parsed the body before `verify` could see its bytes: turn JSON parsing off for this route, or keep the raw bytes (express.raw, rawBody: true).',
  );

function replyTo(result: InboxResult): Response {
  if (result === 'busy') return answer(503, 'busy', { 'retry-after': String(RETRY_AFTER.busy) });
  return answer(200, result === 'ran' ? 'handled' : 'handled before');
}

/** What can never be valid is refused; everything else may come again, so that nothing is lost. */
function replyToError(error: unknown): Response {
  if (isGatewayError(error) && error.name === 'WebhookError' && error.code !== 'already_parsed') {
    return answer(error.code === 'too_large' ? 413 : 400, error.code);
  }
  return answer(503, 'failed', { 'retry-after': String(RETRY_AFTER.failed) });
}

const answer = (status: number, text: string, headers: Record<string, string> = {}): Response =>
  new Response(text, { status, headers: { 'content-type': 'text/plain', ...headers } });
