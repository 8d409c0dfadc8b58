// Finds the payment's id in the body of an answer, even a cut-off one.
import { isPaymentId } from '../schemas/id.ts';

/** A string with the colon of a key, or a bracket. A string without an end ends the body: its id may be whole. */
const TOKEN = /"([^"\\]*(?:\\.[^"\\]*)*)(?:"|$)(\s*:)?|[{}[\]]/gs;

/** Returns the record's `id`, from `result` or from the top. */
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
