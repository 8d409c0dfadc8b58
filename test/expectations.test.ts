// Every test expects something.
import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

describe('the tests', () => {
  const root = new URL('../', import.meta.url);
  // The suites that have packages of their own may be installed, and others write theirs while they run.
  const files = globSync('{test,examples}/**/*.ts', {
    cwd: root,
    exclude: ['**/node_modules', 'test/docs/examples', 'test/readme-examples'],
  }).map(name => name.replaceAll('\\', '/'));
  const sources = new Map(
    files.map(file => {
      const text = readFileSync(new URL(file, root), 'utf8');
      return [file, ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)];
    }),
  );

  it('expect something, themselves or by a helper', () => {
    const all = [...sources].flatMap(([file, source]) => testsIn(source).map(test => ({ file, ...test })));
    expect(all.length).toBeGreaterThan(2_000);
    const expects = expectationsIn(sources);
    expect(
      all
        .filter(({ file, body }) => !body.some(part => expects(file, part)))
        .map(({ file, name }) => `${file}: ${name}`),
    ).toEqual([]);
  });
});

/** Calls of `it` and of what is made of it, such as `it.each(…)` and `const further = it.skipIf(…)`. */
function testsIn(source: ts.SourceFile): { name: string; body: readonly ts.Node[] }[] {
  const found: { name: string; body: readonly ts.Node[] }[] = [];
  const starts = new Set(['it', 'test']);
  visitAll(source, node => {
    if (ts.isVariableDeclaration(node) && node.initializer && starts.has(rootOf(node.initializer))) {
      starts.add(node.name.getText());
    }
    if (!ts.isCallExpression(node) || !starts.has(rootOf(node.expression))) return;
    const [name, ...rest] = node.arguments;
    if (!name || rest.length === 0) return;
    // The names of other calls are those of functions that make tests.
    if (ts.isStringLiteralLike(name) || ts.isTemplateExpression(name)) found.push({ name: name.getText(), body: rest });
  });
  return found;
}

/** `it` of `it.each(…)`. */
function rootOf(node: ts.Expression): string {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isTaggedTemplateExpression(node)) return rootOf(node.tag);
  return ts.isCallExpression(node) || ts.isPropertyAccessExpression(node) ? rootOf(node.expression) : '';
}

/** Tells whether code in a file expects something, itself or by a function of that file or of one that it imports. */
function expectationsIn(sources: Map<string, ts.SourceFile>): (file: string, code: ts.Node) => boolean {
  const functions = new Map<string, ts.Node>();
  const imported = new Map<string, string>();
  for (const [file, source] of sources) {
    visitAll(source, node => {
      if ((ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) && node.name) {
        functions.set(`${file} ${node.name.getText()}`, node);
      }
      if ((ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node)) && node.initializer) {
        const { initializer } = node;
        if (ts.isArrowFunction(initializer) || ts.isCallExpression(initializer)) {
          functions.set(`${file} ${node.name.getText()}`, initializer);
        }
      }
      if (ts.isImportSpecifier(node)) {
        const from = node.parent.parent.parent.moduleSpecifier.getText().slice(1, -1);
        const name = (node.propertyName ?? node.name).text;
        imported.set(`${file} ${node.name.text}`, `${posix.join(posix.dirname(file), from)} ${name}`);
      }
    });
  }
  const known = new Map<string, boolean>();
  const isExpecting = (key: string): boolean => {
    const elsewhere = imported.get(key);
    if (elsewhere) return isExpecting(elsewhere);
    const code = functions.get(key);
    if (!code || known.has(key)) return known.get(key) ?? false;
    known.set(key, false); // of a function that calls itself
    known.set(key, expects(key.slice(0, key.indexOf(' ')), code));
    return known.get(key) ?? false;
  };
  const expects = (file: string, code: ts.Node): boolean => {
    let found = false;
    visitAll(code, node => {
      if (!ts.isIdentifier(node) || found) return;
      const isName = ts.isPropertyAssignment(node.parent) && node.parent.name === node;
      found = ['expect', 'assert'].includes(node.text) || (!isName && isExpecting(`${file} ${node.text}`));
    });
    return found;
  };
  return expects;
}

function visitAll(node: ts.Node, look: (node: ts.Node) => void): void {
  look(node);
  ts.forEachChild(node, child => visitAll(child, look));
}
