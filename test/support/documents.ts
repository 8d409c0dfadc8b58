// Tables of docs/ that tests write: what they show was seen.
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';

const DOCUMENT = new URL('../../docs/connections.md', import.meta.url);

/**
 * Compares a part of docs/connections.md with what was seen.
 * Mend: UPDATE_DOCS=1 npx vitest run --project servers test/http/connection.test.ts
 */
export function expectDocumented(name: string, text: string): void {
  const document = readFileSync(DOCUMENT, 'utf8');
  const [whole = '', begin, shown, end] =
    new RegExp(`(<!-- seen: ${name} -->\n\n)([^]*?)(\n\n<!-- end -->)`).exec(document) ?? [];
  if (process.env.UPDATE_DOCS) writeFileSync(DOCUMENT, document.replace(whole, `${begin}${text}${end}`));
  else expect(shown).toBe(text);
}

/** A table in Markdown. */
export const tableOf = (names: readonly string[], rows: readonly (readonly string[])[]): string =>
  [names, names.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n');
