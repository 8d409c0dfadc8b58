// Writes every message of src into one file, so that a person can read all of them in one sitting.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { root } from './pages.ts';

const LIST = `${root}docs/contributing/messages.txt`;
const FEWEST_WORDS = 4;

/** Returns the texts of at least four words in a file. A value in a text becomes `…`. */
function messagesOf(path: string): string[] {
  const file = ts.createSourceFile(path, readFileSync(root + path, 'utf8'), ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) found.push(node.text);
    if (ts.isTemplateExpression(node))
      found.push([node.head, ...node.templateSpans.map(span => span.literal)].map(part => part.text).join('…'));
    ts.forEachChild(node, visit);
  };
  visit(file);
  const texts = found.map(text => text.replace(/\s+/g, ' ').trim());
  return texts.filter(text => text.split(' ').filter(word => /^[\w'’]+[.,:;]?$/.test(word)).length >= FEWEST_WORDS);
}

// To write it: UPDATE_DOCS=1 npx vitest run --project unit test/docs/messages.test.ts
it('lists every message for its readers', { tags: ['long'] }, () => {
  const files = globSync('src/**/*.ts', { cwd: root }).map(path => path.replaceAll('\\', '/'));
  const isStatement = (text: string) =>
    /\b(?:SELECT|INSERT|UPDATE|SET|CAST|VALUES|TABLE|INDEX|WHERE|AND|ENGINE|READ)\b/.test(text);
  const parts = files.toSorted().flatMap(path => {
    const messages = messagesOf(path).filter(text => !isStatement(text));
    return messages.length > 0 ? [`${path}\n${messages.map(text => `  ${text}`).join('\n')}\n`] : [];
  });
  expect(parts.length).toBeGreaterThan(30);
  const list = parts.join('\n');
  if (process.env.UPDATE_DOCS) writeFileSync(LIST, list);
  expect(readFileSync(LIST, 'utf8')).toBe(list);
});
