// The end of a callback: its answer, its reports, and the error behind both.
import { isGatewayError, WebhookError, type WebhookErrorCode } from '../errors.ts';
import type { KeptReview } from '../store/rules/payment-row.ts';
import { isOfMerchant } from '../store/thrown.ts';
import { type Call, labelOf } from '../telemetry/call.ts';
import { type CallbackNews, type CallbackStep, emitWarning, notify } from '../telemetry/events.ts';
import type { Endpoint } from './endpoint.ts';

type Step = Omit<CallbackStep, 'lane' | 'durationMs'>;

export interface End {
  step: Step;
  response: Response;
}

/** Of callbacks that can never be valid. All others get 503, so that they may come again. */
const REFUSALS: Partial<Record<WebhookErrorCode | 'failed', number>> = {
  not_json: 400,
  wrapped: 400,
  invalid: 400,
  refused: 401,
  unsigned: 401,
  too_large: 413,
};

export const unhandled = (code: WebhookErrorCode, message: string, paymentId?: string, cause?: unknown) =>
  new WebhookError(code, message, [], { paymentId, cause });

export const answer = (status: number, text: string, headers?: Record<string, string> | false) =>
  new Response(text, { status, headers: { 'content-type': 'text/plain', ...headers } });

/** Any error of the merchant's code is a failure. */
export function endOf(error: unknown): End {
  const own = !isOfMerchant(error) && isGatewayError(error) ? error : undefined;
  const { code = 'failed' } = own ?? {};
  const text = own?.name === 'WebhookError' ? own.code : 'failed';
  const status = REFUSALS[text] ?? 503;
  const result = status !== 503 ? 'refused' : text === 'busy' ? 'busy' : 'failed';
  const headers = status === 503 && { 'retry-after': result === 'busy' ? '1' : '10' };
  return { step: { result, code }, response: answer(status, text, headers) };
}

const emit = ({ onEvent }: Endpoint, { callId, paymentId }: Call, news: CallbackNews) =>
  notify(onEvent, { callId, operation: 'callback', paymentId, ...news });

export function reportStep(endpoint: Endpoint, call: Call, { result, ...step }: Step): void {
  const { lane = 'sweep', durationMs } = call;
  if (result !== 'received') Object.assign(call, { outcome: result, ...step });
  emit(endpoint, call, { type: 'callback', result, lane, ...step, durationMs });
}

export function reportReview(endpoint: Endpoint, call: Call, { reason, reference, order }: KeptReview): void {
  emit(endpoint, call, { type: 'review', reason, reference, order });
  if (!endpoint.onEvent) emitWarning(`Payment ${call.paymentId} needs a review (${reason}): see gateway.reviews().`);
}

export function reportAfterCommit(endpoint: Endpoint, call: Call, error: unknown): void {
  const message = `A function passed to afterCommit failed for payment ${call.paymentId}. It does not run again.`;
  emit(endpoint, call, { type: 'warning', code: 'after_commit_failed', message });
  reportFailure(endpoint, error, 'A function passed to afterCommit failed');
}

/** Without a listener, a failure becomes a warning of the process, without its message. */
export function reportFailure({ onError, onEvent }: Endpoint, error: unknown, event: string): void {
  notify(onError, error);
  if (!onError && !onEvent) emitWarning(`${event}: ${labelOf(error)}. Pass onError to get the error.`);
}
