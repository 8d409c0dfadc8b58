// Finds the payment's id in the body of an answer, even a cut-off one.
import { isPaymentId } from '../schemas/id.ts';

/** A string with the colon of a key, or a bracket. A string without an end ends the body: its id may be whole. */
const TOKEN = /"([^"\\]*(?:\\.[^"\\]*)*)(?:"|$)(\s*:)?|[{}[\]]/gs;

/** Returns the record's `id`, from `result` or from the top. */
export function findPaymentId(body: string): string | undefined {
  const path: string[] = [];
  let top: string | undefined;
  for (const [token, text = '', colon] of body.matchAll(TOKEN)) {
    if (token === '{' || token === '[') path.push('');
    else if (token === '}' || token === ']') path.pop();
    else if (colon && path.length > 0) path[path.length - 1] = text;
    else if (isPaymentId(text)) {
      // A key contains a quote only after a backslash.
      const name = path.join('"');
      if (name === 'result"id') return text;
      if (name === 'id') top ??= text;
    }
  }
  return top;
}
