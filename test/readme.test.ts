// Every TypeScript example of the README and of some of docs/ compiles, and runs against the sandbox.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { lacks } from './support/skips.ts';
import { hasPostgres } from './support/stores.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const folder = `${root}test/readme-examples/`;
const names = [
  ...readFileSync(`${root}test/support/readme-names.ts`, 'utf8').matchAll(/^export const (.*) =/gm),
].flatMap(([, declared = '']) => declared.match(/\w+/g) ?? []);

/** Imports what an example uses and does not declare, and finds the examples that it copies. */
function complete(code: string): string {
  code = code.replace(/'\.\/(checkout|admin-route)\.js'/g, "'../../examples/$1.ts'");
  const isDeclared = (name: string) => new RegExp(`const (\\{[^}]*)?\\b${name}\\b`).test(code);
  const missing = names.filter(name => new RegExp(`[^.\\w]${name}\\b(?!:)`).test(code) && !isDeclared(name));
  return `import { ${missing.join(', ')} } from '../support/readme-names.ts';\n${code}\nexport {};\n`;
}

const text = [
  'README.md',
  'docs/callbacks.md',
  'docs/checkout.md',
  'docs/doubts.md',
  'docs/sandbox.md',
  'docs/sweep-and-outbox.md',
]
  .map(name => readFileSync(root + name, 'utf8'))
  .join('\n');
const examples = [...text.matchAll(/^## (.+)$|^```ts\n([\s\S]*?)^```$/gm)]
  .reduce<{ title: string; code: string }[]>((found, [, heading, code]) => {
    if (heading) found.push({ title: heading, code: '' });
    else if (code) found.push({ title: found.at(-1)?.title ?? '', code });
    return found;
  }, [])
  .filter(({ code }) => code);
const files = examples.map((_, index) => `${folder}example-${index + 1}.ts`);

beforeAll(() => {
  mkdirSync(folder, { recursive: true });
  examples.forEach(({ code }, index) => {
    writeFileSync(files[index] ?? '', complete(code));
  });
});
afterAll(async () => {
  const { tidyUp } = await import('./support/readme-names.ts');
  await tidyUp();
  rmSync(folder, { recursive: true, force: true });
});

describe('the examples of the documents', () => {
  it('compile', { timeout: 60_000 }, () => {
    const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
    const diagnostics = ts.getPreEmitDiagnostics(
      ts.createProgram([...files, `${root}src/sandbox/raw-files.d.ts`], options),
    );
    expect(
      diagnostics.map(({ file, messageText }) => [file?.fileName, ts.flattenDiagnosticMessageText(messageText, '\n')]),
    ).toEqual([]);
    expect(files.length).toBeGreaterThan(5);
  });

  for (const [index, { title, code }] of examples.entries()) {
    const needsPostgres = /postgres(Inbox|Journal)\(/.test(code);
    const isLacking =
      needsPostgres && lacks(hasPostgres, 'an example of the documents: no PostgreSQL at 127.0.0.1:5432');
    it.skipIf(isLacking)(`run: ${title} (${index + 1})`, async () => {
      for (const method of ['log', 'error'] as const) vi.spyOn(console, method).mockImplementation(() => {});
      await import(files[index] ?? '');
      vi.restoreAllMocks();
    });
  }
});
