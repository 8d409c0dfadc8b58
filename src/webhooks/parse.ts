// Reads a callback's body. Its content is unproven, because the gateway documents no signature.
import { TextDecoder } from 'node:util';
import { isAnyArrayBuffer } from 'node:util/types';
import type * as z from 'zod';
import { issuesOf, listOf, WebhookError } from '../errors.ts';
import { type Payment, parsePayment } from '../schemas/records/payment.ts';
import { recordIn } from '../schemas/records/response.ts';

/** A payment as a callback claims it. Anyone can post one: look the payment up before you act on it. */
export type WebhookPayment = Payment;

/**
 * Parses a status callback, strictly: `id`, `paymentStatus`, `paymentType`, `amount` and `currency` are required, each
 * with the right type. The last value of a repeated name counts, and `__proto__` is dropped.
 *
 * @param rawBody the body as text or UTF-8 bytes, or already parsed
 * @returns the claim, unverified
 * @throws {WebhookError} `not_json`, `wrapped` (an answer of the API, not a callback), or `invalid` with its `issues`
 * @example
 * const claim = parseWebhook(await request.text());
 * const payment = await gateway.getPayment(claim.id); // the gateway's own record
 */
export function parseWebhook(rawBody: string | Uint8Array | ArrayBuffer | object): WebhookPayment {
  const body = readBody(rawBody);
  if (recordIn(body) !== body) throw new WebhookError('wrapped', WRAPPED);
  return contentOf(parsePayment(body));
}

/** @throws {WebhookError} `invalid` */
export function contentOf<T>({ success, data, error }: z.ZodSafeParseResult<T>): T {
  if (success) return data;
  const issues = issuesOf(error);
  throw new WebhookError('invalid', `This is not a payment callback: ${listOf(issues)}.`, issues);
}

const WRAPPED =
  'The payment is wrapped in `result`, like an answer of the API. The gateway documents callbacks without it. Look the payment up before you act.';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A promise, a request, or a stream of the web or of Node. */
const isNoBody = (given: object) => 'then' in given || 'bodyUsed' in given || 'getReader' in given || 'pipe' in given;

/** Returns any JSON. @throws {WebhookError} `not_json` */
export function readBody(rawBody: unknown): unknown {
  const isParsed = typeof rawBody === 'object' && !ArrayBuffer.isView(rawBody) && !isAnyArrayBuffer(rawBody);
  if (isParsed && !isNoBody(Object(rawBody))) return rawBody;
  try {
    // Both drop a byte order mark.
    const text = typeof rawBody === 'string' ? rawBody.replace(/^\uFEFF/, '') : utf8.decode(rawBody as Uint8Array);
    return JSON.parse(text);
  } catch {
    throw new WebhookError('not_json', NOT_JSON);
  }
}

const NOT_JSON =
  "The callback's body is not JSON: pass it on unchanged, such as await request.text(), and read it once.";
