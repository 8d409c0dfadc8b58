// One form for every way of writing the same request, so that a repeated create is known for what it is.
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';

/** Changes when the form does: a hash of another version never equals one of this. */
const VERSION = 'v1';

/** A plain decimal without trailing zeros: `25.50`, `25.5` and the number 25.5 are one amount. */
export function canonicalAmount(amount: number | string): string {
  const text = String(amount);
  if (!text.includes('.')) return text;
  let end = text.length;
  while (text[end - 1] === '0') end -= 1;
  return text.slice(0, text[end - 1] === '.' ? end - 1 : end);
}

/** Keys in order, `undefined` dropped, null kept, everything else as its JSON. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  });
}

/** A creation request, as far as the journal looks at it. */
export interface Recordable {
  paymentType: 'DEPOSIT' | 'WITHDRAWAL';
  paymentMethod: string;
  amount: number | string;
  currency: string;
  reference?: string | null | undefined;
}

/**
 * What the journal keeps of a request: the four fields that decide money, and a hash of the whole.
 *
 * @param body the bytes that are sent, `extra` included
 */
export function attemptOf(request: Recordable, body: Uint8Array) {
  const { paymentType, paymentMethod, currency } = request;
  const amount = canonicalAmount(request.amount);
  const canonical = canonicalJson({ ...JSON.parse(Buffer.from(body).toString()), amount });
  const bodyHash = createHash('sha256').update(`${VERSION}:${canonical}`).digest('hex');
  return { paymentType, paymentMethod, amount, currency, bodyHash };
}

/** In place of a hash: nobody has seen the request, only the payment that it has made. */
export const UNSEEN = 'unseen';

/** What references are unique within, unless the journal says otherwise. */
export const scopeOf = (baseUrl: string): string =>
  createHash('sha256').update(baseUrl).digest('hex').slice(0, 16);
