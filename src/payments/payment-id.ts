// Finds the payment's id in the body of an answer, also in one that was cut off.
import { isPaymentId } from '../schemas/id.ts';

/** A text with the colon of a key, or a bracket. A text without its closing quote ends the body: the id in it may be whole. */
const TOKEN = /"([^"\\]*(?:\\.[^"\\]*)*)(?:"|$)(\s*:)?|[{}[\]]/gs;

/** The record's `id`: that of `result`, or that at the top. */
export function findPaymentId(body: string): string | undefined {
  const parents: string[] = [];
  let key = '';
  let top: string | undefined;
  for (const [token, text = '', colon] of body.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      parents.push(key);
      key = token;
    } else if (token === '}' || token === ']') {
      key = parents.pop() ?? '';
    } else if (colon) {
      key = text;
    } else if (key === 'id' && isPaymentId(text)) {
      if (parents.length === 2 && parents[1] === 'result') return text;
      if (parents.length === 1) top ??= text;
    }
  }
  return top;
}
