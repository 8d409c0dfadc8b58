// Every example of the documents compiles, and runs against the sandbox. New pages are found by themselves.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { lacks } from '../support/skips.ts';
import { hasPostgres } from '../support/stores.ts';
import { type Block, blocksOf, pages, root, textOf } from './pages.ts';

/** Of this test alone: others have theirs beside it. */
const folder = `${root}test/docs/examples/pages/`;

/** The names that examples have without declaring them. */
const NAMES = [...textOf('test/docs/names.ts').matchAll(/^export const (.*) =/gm)].flatMap(
  ([, declared = '']) => declared.match(/\w+/g) ?? [],
);

/** Imports what an example uses and does not declare, and finds the examples that it copies. */
function complete({ code }: Block): string {
  const copied = code.replace(/'\.\/(payments|admin-route)\.js'/g, "'../../../../examples/$1.ts'");
  const isDeclared = (name: string) => new RegExp(`(const|import) ([{][^}]*)?\\b${name}\\b`).test(copied);
  const missing = NAMES.filter(name => new RegExp(`[^.\\w]${name}\\b(?!:)`).test(copied) && !isDeclared(name));
  return `import { ${missing.join(', ')} } from '../../names.ts';\n${copied}\nexport {};\n`;
}

const fileOf = ({ page, line }: Block) => `${folder}${page.replace(/\W/g, '-')}-line-${line}.ts`;
const placeOf = ({ page, line }: Block) => `${page}:${line}`;

/** Files that a merchant copies, which tests of their own run. */
const copies = readdirSync(`${root}examples/testing`).map(file =>
  readFileSync(`${root}examples/testing/${file}`, 'utf8'),
);

// The pages of docs/orms are compiled with their libraries, and run, by test/orms.
const blocks = [...pages, 'AGENTS.md'].filter(page => !page.startsWith('docs/orms/')).flatMap(blocksOf);
const examples = blocks
  .filter(({ language }) => language === 'ts' || language === 'js')
  .filter(({ code }) => !copies.includes(code));

beforeAll(() => {
  mkdirSync(folder, { recursive: true });
  for (const example of examples) writeFileSync(fileOf(example), complete(example));
});
afterAll(async () => {
  const { tidyUp } = await import('./names.ts');
  await tidyUp();
  rmSync(folder, { recursive: true, force: true });
});

describe('the examples of the documents', () => {
  it('compile', { timeout: 60_000 }, () => {
    expect(diagnosed(examples)).toEqual([]);
    expect(examples.length).toBeGreaterThan(30);
  });

  it('are held to what runs also where they are not run here: `typescript`', () => {
    const free = blocks.filter(({ page, line, language }) => {
      const before = textOf(page).split('\n').slice(0, line).join('\n');
      const isSeen = before.lastIndexOf('<!-- seen:') > before.lastIndexOf('<!-- end -->');
      const isOnPaper = before.slice(before.lastIndexOf('\n## ')).includes('On paper: it was not run by our tests.');
      return ['typescript', 'javascript', 'tsx', 'jsx'].includes(language) && !isSeen && !isOnPaper;
    });
    // What needs a library that is not here: pages of test/orms and test/observability have it.
    const others = free.filter(({ page }) => page !== 'docs/orms.md' && page !== 'docs/observability.md');
    expect(others.map(placeOf)).toEqual([]);
  });

  it('name the test that runs them, where the page is not enough to run them', () => {
    const named = examples.flatMap(({ runBy }) => runBy ?? []);
    expect(named.filter(file => !existsSync(root + file))).toEqual([]);
  });

  for (const example of examples.filter(({ runBy }) => !runBy)) {
    const isLacking =
      /postgres(Inbox|Journal)\(|pool\./.test(example.code) &&
      lacks(hasPostgres, `the example at ${placeOf(example)}: no PostgreSQL at 127.0.0.1:5432`);
    it.skipIf(isLacking)(`run: ${placeOf(example)}`, async () => {
      for (const method of ['log', 'warn', 'error'] as const) vi.spyOn(console, method).mockImplementation(() => {});
      await expect(import(fileOf(example))).resolves.toBeDefined();
      vi.restoreAllMocks();
    });
  }
});

/**
 * What the compiler says of examples. Only they are checked, with what they use of the source: a check of all source files,
 * which `tsc` does anyway, would take most of the time.
 */
function diagnosed(examples: readonly Block[]): string[] {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, root);
  const program = ts.createProgram([...examples.map(fileOf), `${root}src/sandbox/raw-files.d.ts`], options);
  return examples.flatMap(example => {
    const file = program.getSourceFile(fileOf(example));
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    return found.map(({ start = 0, messageText }) => {
      // The line before the first one imports.
      const line = (file?.getLineAndCharacterOfPosition(start).line ?? 0) + example.line - 1;
      return `${example.page}:${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
  });
}
