// What a payment's id looks like, and how it is found in an answer that was cut short or cannot be read.

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** Whether a value is a UUID of any version, and so may enter a lookup's path. */
export const isPaymentId = (value: unknown): value is string => typeof value === 'string' && UUID.test(value);

/** Whether two ids name the same payment. */
export const isSamePayment = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** A text that the end cuts off is a token too: an id is whole without its closing quote. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|[{}[\],:]|[^\s"{}[\],:]+/sy;

/** An object or array that is open at the place reached. */
interface Frame {
  /** How the path leads here: '' the whole answer, 'result', or '…' anything else. */
  place: '' | 'result' | '…';
  isObject: boolean;
  key: string | undefined;
  id?: string;
  hasStatus?: boolean;
}

/**
 * Finds the payment's id in text that should be an answer of the gateway. Only a record's own `id` counts: that of
 * the whole answer, of its `result`, or of an object with a `paymentStatus`; never that of a customer, an error or a
 * text that quotes one. What precedes the first object (a PHP warning, a byte order mark) is passed over.
 */
export function findPaymentId(text: string): string | undefined {
  const found: Partial<Record<Frame['place'], string>> = {};
  const open: Frame[] = [];
  TOKEN.lastIndex = text.search(/\{\s*"/);
  if (TOKEN.lastIndex < 0) return undefined;

  for (let expectsKey = false; ; ) {
    skipSpace(text);
    const token = TOKEN.exec(text)?.[0];
    const frame = open.at(-1);
    if (token === undefined) break;
    if (token === '{' || token === '[') {
      const place = !frame ? '' : open.length === 1 && frame.key === 'result' ? 'result' : '…';
      open.push({ place, isObject: token === '{', key: undefined });
      expectsKey = token === '{';
    } else if (token === '}' || token === ']') {
      open.pop();
      if (open.length === 0) break;
    } else if (token === ',') {
      expectsKey = frame?.isObject ?? false;
    } else if (token.startsWith('"') && frame) {
      const value = unquote(token);
      if (expectsKey) {
        frame.key = value;
        expectsKey = false;
        if (value === 'paymentStatus') frame.hasStatus = true;
      } else if (frame.key === 'id' && frame.isObject && isPaymentId(value)) {
        frame.id = value;
      }
      if (frame.id && (frame.place !== '…' || frame.hasStatus)) found[frame.place] = frame.id;
    }
  }
  return found.result ?? found[''] ?? found['…'];
}

function skipSpace(text: string): void {
  while (TOKEN.lastIndex < text.length && /\s/.test(text.charAt(TOKEN.lastIndex))) TOKEN.lastIndex++;
}

function unquote(token: string): string {
  try {
    return JSON.parse(token);
  } catch {
    return token.replace(/^"|"$/g, '');
  }
}
