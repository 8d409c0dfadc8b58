// The answer to a callback, its report, and the error behind both.
import { isGatewayError, WebhookError, type WebhookErrorCode } from '../errors.ts';
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
export const unhandled = (code: WebhookErrorCode, message: string, paymentId?: string, cause?: unknown): WebhookError =>
  new WebhookError(code, message, [], { paymentId, cause });

export const answer = (status: number, text: string, headers: Record<string, string> = {}): Response =>
  new Response(text, { status, headers: { 'content-type': 'text/plain', ...headers } });

/** Returns the report and the answer of a callback that was not handled. Any error of the merchant's code is a failure. */
export function endOf(error: unknown): { step: CallbackReport; response: Response } {
  const own = !isOfMerchant(error) && isGatewayError(error) ? error : undefined;
  const { code = 'failed' } = own ?? {};
  const isAboutCallback = own?.name === 'WebhookError';
  const refusal = isAboutCallback ? REFUSALS[own.code] : undefined;
  if (refusal !== undefined) return { step: { result: 'refused', code }, response: answer(refusal, code) };
  const result = code === 'busy' ? 'busy' : 'failed';
  const headers = { 'retry-after': String(RETRY_AFTER[result]) };
  return { step: { result, code }, response: answer(503, isAboutCallback ? code : 'failed', headers) };
}
