// What the mutation run takes for granted: which files it tries, and that the code whose survivors are listed is still there.
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { ROOMS } from './mutants/rooms.ts';
import { SURVIVORS } from './mutants/survivors.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const filesOf = (globs: readonly string[]) => globs.flatMap(glob => globSync(glob, { cwd: root }));
const inOneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

it('is of every file of src, but for the pages, the commands’ beginnings, and what is itself tests', () => {
  const tried = ROOMS.flatMap(({ mutate }) => {
    const left = new Set(filesOf(mutate.flatMap(glob => (glob.startsWith('!') ? glob.slice(1) : []))));
    return filesOf(mutate.filter(glob => !glob.startsWith('!'))).filter(file => !left.has(file));
  });
  expect(tried).toEqual([...new Set(tried)]);
  // The adapters are proven over the real libraries alone.
  const exceptions = [
    'src/adapters/*',
    'src/sandbox/pages/**/*',
    'src/testing/**/*',
    'src/cli/main.ts',
    'src/sandbox/cli/main.ts',
  ];
  const untried = globSync('src/**/*.ts', { cwd: root }).filter(file => !tried.includes(file));
  expect(untried).toEqual(untried.filter(file => filesOf(exceptions).includes(file)));
});

it('tries its rooms with tests that there are', () => {
  const tests = ROOMS.flatMap(({ tests }) => tests);
  expect(tests.filter(test => filesOf([test]).length === 0)).toEqual([]);
});

it('lists no survivor of code that is not there any more', () => {
  const sourceOf = (file: string) => inOneLine(readFileSync(`${root}${file}`, 'utf8'));
  expect(SURVIVORS.filter(({ file, from }) => !sourceOf(file).includes(inOneLine(from)))).toEqual([]);
});
