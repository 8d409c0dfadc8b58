// The documents as a whole: each page is listed, short, and without broken links.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorsOf, blocksOf, pages, root, textOf } from './pages.ts';

/** Most lines of a page. */
const MOST_LINES = 200;
const LONGER: Record<string, number> = { 'README.md': 150, 'docs/options.md': 240, 'docs/observability.md': 240 };

const PAPERS = ['AGENTS.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'SECURITY.md', 'CHANGELOG.md'];

const linksIn = (text: string): string[] =>
  [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter(target => !/^[a-z]+:/.test(target));

/** Returns the problem with a link. */
function problemOf(page: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#');
  const file = path ? posix.join(posix.dirname(page), path) : page;
  if (!existsSync(root + file)) return `${link}: ${file} does not exist`;
  if (anchor === undefined || !file.endsWith('.md')) return undefined;
  return anchorsOf(textOf(file)).includes(anchor) ? undefined : `${link}: ${file} has no such heading`;
}

describe.each([...pages, ...PAPERS])('%s', page => {
  it('has no broken link', () => {
    const problems = linksIn(textOf(page)).map(link => problemOf(page, link));
    expect(problems.filter(problem => problem !== undefined)).toEqual([]);
  });

  it('is short', () => {
    const { length } = textOf(page).trimEnd().split('\n');
    expect(length).toBeLessThanOrEqual(LONGER[page] ?? MOST_LINES);
  });
});

describe('docs/README.md', () => {
  const index = textOf('docs/README.md');

  it('names each page once, under its four headings', () => {
    const listed = linksIn(index).map(link => posix.join('docs', link));
    expect(listed.toSorted()).toEqual(pages.filter(page => !page.endsWith('README.md')).toSorted());
    expect([...index.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)).toEqual([
      'Start',
      'Guides',
      'Operate',
      'Reference',
    ]);
  });
});

/** To write it: UPDATE_DOCS=1 npx vitest run --project servers test/docs/pages.test.ts */
it('docs/llms.txt is the index for language models, as llmstxt.org has it', () => {
  const [, summary = ''] = /^# .+\n\n((?:.+\n)+)/.exec(textOf('README.md')) ?? [];
  // The words at its end are not a list of pages.
  const [, sections = ''] = /^[\s\S]*?(?=^## )([\s\S]*?\n)\n### Words$/m.exec(textOf('docs/README.md')) ?? [];
  // Lists of llms.txt do not nest.
  const list = sections.replace(/^ +- /gm, '- ');
  const rules = '- [Rules for coding assistants](../AGENTS.md): what never to do with money';
  const wanted = `# payment-gateway-sdk\n\n> ${summary.trim().replaceAll('\n', ' ')}\n\n${list.replace('## Start\n\n', `## Start\n\n${rules}\n`)}`;
  if (process.env.UPDATE_DOCS) writeFileSync(`${root}docs/llms.txt`, wanted);
  expect(readFileSync(`${root}docs/llms.txt`, 'utf8')).toBe(wanted);
});

it('AGENTS.md names files of the package', () => {
  const { files } = JSON.parse(textOf('package.json')) as { files: string[] };
  expect(files).toContain('AGENTS.md');
  const paths = [...textOf('AGENTS.md').matchAll(/`((?:docs|examples|dist)\/[^`]*|README\.md)`/g)].map(
    ([, path = '']) => path,
  );
  expect(paths.length).toBeGreaterThan(10);
  // dist is built from src.
  const sources = paths.map(path => path.replace(/^dist\//, 'src/').replace(/\.d\.ts$/, '.ts'));
  expect(sources.filter(path => !existsSync(root + path))).toEqual([]);
});

describe('the README', () => {
  it('has the two commands in the words of every shell, before anything else to type', () => {
    const [first] = blocksOf('README.md');
    expect(first?.code).toBe('npm ci && npm run demo\nnpm ci && npm test\n');
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
    expect(scripts).toMatchObject({ demo: expect.any(String), test: expect.any(String) });
  });

  it('names the examples there are', () => {
    const testing = readdirSync(`${root}examples/testing`).filter(file => file.includes('.test.'));
    expect(testing.length).toBeGreaterThan(2);
    expect(testing.filter(file => !textOf('docs/testing.md').includes(file))).toEqual([]);
    const servers = readdirSync(`${root}examples`).filter(file =>
      /^(express|fastify|hono|lambda|nest|next-route|node-http)\.ts$/.test(file),
    );
    const page = textOf('docs/callbacks.md');
    expect(servers.filter(file => !page.includes(`../examples/${file}`))).toEqual([]);
  });
});
