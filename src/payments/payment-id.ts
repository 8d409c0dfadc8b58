// Finds the payment's id in an answer that was cut short, cannot be read, or is an error.
import { isPaymentId } from '../schemas/id.ts';

/** Ids by where they were found: in `result`, in the answer itself, or in another object that has a `paymentStatus`. */
interface Found {
  result?: string;
  answer?: string;
  elsewhere: Set<string>;
  /** The `order_id` of an answer, which equals the payment's id by the document. */
  order?: string;
}

/** JSON that was encoded twice is decoded twice, and no more. */
const DEEPEST_TEXT = 2;

/**
 * Finds the payment's id in text that should be an answer of the gateway. Only a record's own `id` counts: that of the
 * answer itself, of its `result`, or of the one object with a `paymentStatus`, and without any of them the `order_id` of the
 * answer; never that of a customer, an error or a text that quotes one. Anything before and between objects (a PHP warning, a
 * byte order mark) is ignored.
 */
export function findPaymentId(text: string, depth = 0): string | undefined {
  if (depth > DEEPEST_TEXT) return undefined;
  const found: Found = { elsewhere: new Set() };
  const start = /\{\s*"/g;
  for (let match = start.exec(text); match; match = start.exec(text)) {
    start.lastIndex = readObject(text, match.index, found, depth) ?? text.length;
  }
  const [elsewhere, second] = found.elsewhere;
  const quoted = /^\s*"/.test(text) ? findPaymentId(unquote(text), depth + 1) : undefined;
  return quoted ?? found.result ?? found.answer ?? (second === undefined ? (elsewhere ?? found.order) : undefined);
}

/** Whether the text ends within an object of JSON. */
export function isWithinObject(text: string): boolean {
  const start = /\{\s*"/g;
  for (let match = start.exec(text); match; match = start.exec(text)) {
    const end = readObject(text, match.index, { elsewhere: new Set() }, DEEPEST_TEXT);
    if (end === undefined) return true;
    start.lastIndex = end;
  }
  return false;
}

/** A key with a UUID, also in JSON that is a text of other JSON. */
const CANDIDATE =
  /"(?:id|payment_id|paymentId|order_id)\\*"\s*:\s*\\*"([\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12})/gi;

/**
 * Every id in the text of an error, at any depth, that could be that of a payment: in lower case, each once.
 *
 * @param reference of the create, which an error may repeat
 */
export function candidateIds(text: string, reference?: string | null): string[] {
  const ids = new Set(Array.from(text.matchAll(CANDIDATE), ([, id]) => String(id).toLowerCase()));
  if (reference) ids.delete(reference.toLowerCase());
  return [...ids];
}

/** An object or array whose end has not been reached. */
interface Frame {
  place: 'answer' | 'result' | 'elsewhere';
  isObject: boolean;
  expectsKey: boolean;
  key?: string;
  id?: string;
  hasStatus?: boolean;
}

/** A text without its closing quote is a token too: the id in it may be whole. */
const TOKEN = /\s*("[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|[{}[\],:]|[^\s"{}[\],:]+)/sy;

/** Reads the object that starts there into `found`, and answers where it ends, if it does. */
function readObject(text: string, start: number, found: Found, depth: number): number | undefined {
  const tokens = new RegExp(TOKEN);
  tokens.lastIndex = start;
  const next = () => tokens.exec(text)?.[1];
  const open: Frame[] = [];
  /** They count at its end: before that, the payment's own may still come. */
  const elsewhere: string[] = [];
  for (let token = next(); token !== undefined; token = next()) {
    const frame = open.at(-1);
    if (token === '{' || token === '[') {
      const isObject = token === '{';
      open.push({ place: placeIn(frame), isObject, expectsKey: isObject });
    } else if (token === '}' || token === ']') {
      open.pop();
      if (open.length > 0) continue;
      for (const id of elsewhere) found.elsewhere.add(id);
      return tokens.lastIndex;
    } else if (token === ',' && frame) {
      frame.expectsKey = frame.isObject;
    } else if (token.startsWith('"') && frame) {
      const value = unquote(token);
      if (frame.expectsKey) frame.key = value;
      else readValue(frame, value, found, depth);
      if (frame.expectsKey && value === 'paymentStatus') frame.hasStatus = true;
      frame.expectsKey = false;
      if (frame.id && frame.hasStatus && frame.place === 'elsewhere') elsewhere.push(frame.id);
    }
  }
  return undefined;
}

/** Where an object or array stands that begins there. */
function placeIn(frame: Frame | undefined): Frame['place'] {
  if (!frame) return 'answer';
  return frame.place === 'answer' && frame.key === 'result' ? 'result' : 'elsewhere';
}

function readValue(frame: Frame, value: string, found: Found, depth: number): void {
  if (frame.key === 'id' && frame.isObject && isPaymentId(value)) {
    frame.id = value;
    if (frame.place !== 'elsewhere') found[frame.place] = value;
  } else if (frame.key === 'order_id' && frame.place === 'answer' && frame.isObject && isPaymentId(value)) {
    found.order = value;
  } else if (frame.key === 'result' && frame.place === 'answer' && value.startsWith('{')) {
    const id = findPaymentId(value, depth + 1);
    if (id) found.result = id;
  }
}

function unquote(token: string): string {
  try {
    return JSON.parse(token);
  } catch {
    // Cut off before its closing quote.
    return token.slice(1);
  }
}
