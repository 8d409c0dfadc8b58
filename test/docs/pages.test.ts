// The documents as a whole: they are found, their links lead somewhere, and none is too long to be read.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectDocumented } from '../support/documents.ts';
import { anchorsOf, blocksOf, pages, root, textOf } from './pages.ts';

const MOST_LINES = 200;
/** One has a row for every option there is, the other whole programs. */
const LONGER: Record<string, number> = {
  'docs/mysql.md': 250,
  'docs/options.md': 260,
  'docs/observability.md': 240,
};

/** What others of the repository write: their links are checked as soon as they are there. */
const ELSEWHERE: readonly string[] = [];

const PAPERS = ['AGENTS.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'SECURITY.md', 'docs/decisions/README.md'];

const linksIn = (text: string): string[] =>
  [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter(target => !/^[a-z]+:/.test(target));

/** What is wrong with a link. */
function problemOf(page: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#');
  const file = path ? posix.join(posix.dirname(page), path) : page;
  if (!existsSync(root + file)) return ELSEWHERE.includes(file) ? undefined : `${link}: there is no ${file}`;
  if (anchor === undefined || !file.endsWith('.md')) return undefined;
  return anchorsOf(textOf(file)).includes(anchor) ? undefined : `${link}: ${file} has no such heading`;
}

describe.each([...pages, ...PAPERS])('%s', page => {
  it('links to what is there', () => {
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
    const own = linksIn(index).map(link => posix.join('docs', link));
    const others = own.filter(file => !pages.includes(file) && !ELSEWHERE.includes(file));
    expect(others).toEqual(['docs/decisions/README.md']);
    const listed = own.filter(file => pages.includes(file));
    expect(listed.toSorted()).toEqual(pages.filter(page => !page.endsWith('README.md')).toSorted());
    expect([...index.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)).toEqual([
      'Start',
      'Guides',
      'Operate',
      'Reference',
    ]);
  });
});

describe('docs/testing-later.md', () => {
  it('has the file that runs beside this one', () => {
    const code = textOf('test/docs/shop/later.test.ts');
    expectDocumented('testing-later.md', 'later.test.ts', `\`\`\`typescript\n${code}\`\`\``);
  });
});

describe('docs/llms.txt', () => {
  /** Mend: UPDATE_DOCS=1 npx vitest run test/docs/pages.test.ts */
  it('is the index for language models, as llmstxt.org has it', () => {
    const [, summary = ''] = /^# .+\n\n((?:.+\n)+)/.exec(textOf('README.md')) ?? [];
    // The words at its end are no list of pages.
    const [, sections = ''] = /^[\s\S]*?(?=^## )([\s\S]*?\n)\n### Words$/m.exec(textOf('docs/README.md')) ?? [];
    // Lists of llms.txt do not nest.
    const list = sections.replace(/^ +- /gm, '- ');
    const rules = '- [Rules for coding assistants](../AGENTS.md): what never to do with money';
    const wanted = `# payment-gateway-sdk\n\n> ${summary.trim().replaceAll('\n', ' ')}\n\n${list.replace('## Start\n\n', `## Start\n\n${rules}\n`)}`;
    if (process.env.UPDATE_DOCS) writeFileSync(`${root}docs/llms.txt`, wanted);
    expect(readFileSync(`${root}docs/llms.txt`, 'utf8')).toBe(wanted);
  });
});

describe('AGENTS.md', () => {
  it('leads to what is in the package', () => {
    const { files } = JSON.parse(textOf('package.json')) as { files: string[] };
    expect(files).toContain('AGENTS.md');
    const paths = [...textOf('AGENTS.md').matchAll(/`((?:docs|examples|dist)\/[^`]*|README\.md)`/g)].map(
      ([, path = '']) => path,
    );
    expect(paths.length).toBeGreaterThan(10);
    // dist is built of src.
    const sources = paths.map(path => path.replace(/^dist\/(.*)\.d\.ts$/, 'src/$1.ts'));
    expect(sources.filter(path => !existsSync(root + path))).toEqual([]);
  });
});

describe('the README', () => {
  it('has the two commands in the words of every shell, before anything else to type', () => {
    const [first] = blocksOf('README.md');
    expect(first?.code).toBe('npm ci && npm run demo\nnpm ci && npm test\n');
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
    expect(scripts).toMatchObject({ demo: expect.any(String), test: expect.any(String) });
  });

  it('names the examples there are', () => {
    expect(readdirSync(`${root}examples/testing`)).toContain('checkout.vitest.test.js');
    const servers = readdirSync(`${root}examples`).filter(file =>
      /^(express|fastify|hono|lambda|nest|next-route|node-http)\.ts$/.test(file),
    );
    const page = textOf('docs/callbacks.md');
    expect(servers.filter(file => !page.includes(`../examples/${file}`))).toEqual([]);
  });
});
