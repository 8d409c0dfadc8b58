// The answer to a callback, its report, and the error behind both.
import { type AnyGatewayError, isGatewayError, WebhookError, type WebhookErrorCode } from '../errors.ts';
import type { ProcessResult } from '../store/link.ts';
import { isOfMerchant } from '../store/thrown.ts';
import type { CallbackStep } from '../telemetry/events.ts';

/** The result of a callback. */
export type CallbackReport = Omit<CallbackStep, 'lane' | 'durationMs'>;

/** Seconds until the retry of a callback that was not handled. */
const RETRY_AFTER = { busy: 1, failed: 10 };

/** Statuses for callbacks that can never be valid. The rest get 503 and may come again, so that nothing is lost. */
const REFUSALS: Partial<Record<WebhookErrorCode, number>> = {
  not_json: 400,
  wrapped: 400,
  invalid: 400,
  refused: 401,
  unsigned: 401,
  too_large: 413,
};

/** Returns the error of a callback that was not handled. */
export const unhandled = (code: WebhookErrorCode, message: string, paymentId?: string): WebhookError =>
  new WebhookError(code, message, [], { paymentId });

export function replyTo(result: Exclude<ProcessResult['result'], 'busy'>): Response {
  return answer(200, result === 'ran' ? 'handled' : 'handled before');
}

export function replyToError(error: unknown): Response {
  if (!isOwn(error) || error.name !== 'WebhookError') return later('failed', RETRY_AFTER.failed);
  const { code } = error;
  const refusal = REFUSALS[code];
  if (refusal !== undefined) return answer(refusal, code);
  return later(code, code === 'busy' ? RETRY_AFTER.busy : RETRY_AFTER.failed);
}

const later = (text: string, seconds: number): Response => answer(503, text, { 'retry-after': String(seconds) });

export const answer = (status: number, text: string, headers: Record<string, string> = {}): Response =>
  new Response(text, { status, headers: { 'content-type': 'text/plain', ...headers } });

/** Returns whether the error is the SDK's own. Any error of the merchant's code is a failure. */
const isOwn = (error: unknown): error is AnyGatewayError => !isOfMerchant(error) && isGatewayError(error);

export const isRefusedForGood = (error: unknown): error is WebhookError =>
  isOwn(error) && error.name === 'WebhookError' && error.code in REFUSALS;

/** Returns the report of a callback that was not answered 200. */
export function failureOf(error: unknown): CallbackReport {
  const code = isOwn(error) ? error.code : 'failed';
  if (isRefusedForGood(error)) return { result: 'refused', code };
  return { result: code === 'busy' ? 'busy' : 'failed', code };
}
