// Tables of docs/ that tests write: what they show was seen.
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';

/**
 * Compares a part of a document with what was seen. Mend: UPDATE_DOCS=1 npx vitest run, and the test's file
 *
 * @param file in docs/
 */
export function expectDocumented(file: string, name: string, text: string): void {
  const path = new URL(`../../docs/${file}`, import.meta.url);
  const document = readFileSync(path, 'utf8');
  const [whole = '', begin, shown] =
    new RegExp(`(<!-- seen: ${name} -->\n\n)([^]*?)\n*<!-- end -->`).exec(document) ?? [];
  if (process.env.UPDATE_DOCS) writeFileSync(path, document.replace(whole, `${begin}${text}\n\n<!-- end -->`));
  else expect(shown).toBe(text);
}
