// Every example of the documents compiles, and runs against the sandbox. New pages are found without a list.
import { Channel } from 'node:diagnostics_channel';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { lacks } from '../support/skips.ts';
import { hasPostgres } from '../support/stores.ts';
import { type Block, blocksOf, pages, root, textOf } from './pages.ts';

/** Only this test writes here. */
const folder = `${root}test/docs/examples/pages/`;

/** The names that examples use without declaring them. */
const NAMES = [...textOf('test/docs/names.ts').matchAll(/^export const (.*) =/gm)].flatMap(
  ([, declared = '']) => declared.match(/\w+/g) ?? [],
);

/** Imports the names that an example uses and does not declare. */
function complete({ code }: Block): string {
  const isDeclared = (name: string) => new RegExp(`(const|import) ([{][^}]*)?\\b${name}\\b`).test(code);
  const missing = NAMES.filter(name => new RegExp(`(^|[^.\\w])${name}\\b(?!:)`, 'm').test(code) && !isDeclared(name));
  return `import { ${missing.join(', ')} } from '../../names.ts';\n${code}\nexport {};\n`;
}

const fileOf = ({ page, line }: Block) => `${folder}${page.replace(/\W/g, '-')}-line-${line}.ts`;
const placeOf = ({ page, line }: Block) => `${page}:${line}`;

const blocks = [...pages, 'AGENTS.md'].flatMap(blocksOf);
const examples = blocks.filter(({ language }) => language === 'ts');

beforeAll(() => {
  mkdirSync(folder, { recursive: true });
  for (const example of examples) writeFileSync(fileOf(example), complete(example));
});
afterAll(async () => {
  if (hasPostgres) await (await import('./names.ts')).tidyUp();
  rmSync(folder, { recursive: true, force: true });
});

describe('the examples of the documents', () => {
  it('compile', { timeout: 240_000 }, () => {
    expect(diagnosed(examples)).toEqual([]);
    expect(examples.length).toBeGreaterThan(20);
  });

  it('are written by a test where they are not run here: `typescript`', () => {
    const free = blocks.filter(({ page, line, language }) => {
      const before = textOf(page).split('\n').slice(0, line).join('\n');
      const isSeen = before.lastIndexOf('<!-- seen:') > before.lastIndexOf('<!-- end -->');
      return ['typescript', 'javascript', 'tsx', 'jsx'].includes(language) && !isSeen;
    });
    // test/observability and test/schedulers compile these pages, with their libraries.
    const others = free.filter(({ page }) => page !== 'docs/observability.md' && page !== 'docs/schedulers.md');
    expect(others.map(placeOf)).toEqual([]);
  });

  it('name an existing test if they are JavaScript, or need more than the page', () => {
    const named = blocks.filter(({ language, runBy }) => language === 'js' || runBy);
    expect(named.filter(({ runBy = '' }) => !runBy || !existsSync(root + runBy)).map(placeOf)).toEqual([]);
  });

  const isLacking = lacks(hasPostgres, 'the examples of the documents: no PostgreSQL at 127.0.0.1:5432');
  it
    .skipIf(isLacking)
    .each(examples.filter(({ runBy }) => !runBy).map(example => [placeOf(example), example] as const))(
    'run: %s',
    async (_place, example) => {
      for (const method of ['log', 'info', 'warn', 'error'] as const)
        vi.spyOn(console, method).mockImplementation(() => {});
      const { mock } = vi.spyOn(Channel.prototype, 'subscribe');
      await expect(import(fileOf(example))).resolves.toBeDefined();
      // Otherwise the example would log the creates of the next files.
      for (const [index, [listener]] of mock.calls.entries()) (mock.contexts[index] as Channel).unsubscribe(listener);
      vi.restoreAllMocks();
    },
  );
});

/** Checks the examples, and of the source only the types that they use: `tsc` checks the rest. */
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
