// Which file of the repository is which page of the site, and what a link in one of them leads to.
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));
/** Where the pages are written before VitePress reads them; git ignores it. */
export const generated = fileURLToPath(new URL('generated/', import.meta.url));

export const manifest = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
export const repository: string = manifest.repository.url.replace(/^git\+|\.git$/g, '');

/** Those that are not in docs/ or examples/. */
const ELSEWHERE: Record<string, string> = {
  'README.md': 'overview.md',
  'docs/README.md': 'contents.md',
  'CHANGELOG.md': 'changelog.md',
  'SECURITY.md': 'security-policy.md',
};
/** What is no text to read: copied as it is. */
export const DOWNLOADS: Record<string, string> = {
  'docs/openapi/gateway.json': 'openapi.json',
  'docs/openapi/sandbox.json': 'sandbox-openapi.json',
};

const isElsewhere = (path: string) => /(^|[\\/])(node_modules|dist)$/.test(path);
const found = (pattern: string) =>
  globSync(pattern, { cwd: root, exclude: isElsewhere })
    .map(path => path.replaceAll('\\', '/'))
    .sort();
export const examples = found('examples/**/*.{ts,tsx,js,cjs,mjs,css,sql}');

/** The page of each file, both as paths, that of the file from the root of the repository. */
export const pages = new Map<string, string>();
for (const source of [
  ...Object.keys(ELSEWHERE),
  ...found('docs/*.md'),
  ...found('examples/**/README.md'),
  ...examples,
]) {
  if (pages.has(source) || !existsSync(root + source)) continue;
  const own = source.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1index.md');
  const page = ELSEWHERE[source] ?? (own.endsWith('.md') ? own : `${own}.md`);
  if ([...pages.values()].includes(page)) throw new Error(`${source} would be the page ${page}, which is taken.`);
  pages.set(source, page);
}
const sources = new Map([...pages].map(([source, page]) => [page, source]));

/** The folders of examples have pages that list them, below their README if there is one. */
export const folders = new Map(
  [...new Set(examples.map(path => posix.dirname(path)))].map(folder => [folder, `${folder}/index.md`]),
);

/** The file that a page is made of; pages of the API are made of none. */
export const sourceOf = (page: string): string | undefined => sources.get(page);

/**
 * What a link is on the site: the page, if what it leads to is one, and else the file in the repository.
 *
 * @param source the file that has the link
 */
export function resolveLink(source: string, href: string): string {
  if (/^([a-z]+:|\/\/|#)/i.test(href)) return href;
  const [, path = '', rest = ''] = /^([^?#]*)(.*)$/.exec(href) ?? [];
  const target = posix.join(posix.dirname(source), decodeURI(path)).replace(/\/$/, '');
  const page =
    pages.get(target) ?? pages.get(`${target}/README.md`) ?? folders.get(target) ?? DOWNLOADS[target] ?? undefined;
  if (page) return `/${page}${rest}`;
  // It stays as it is, and leads nowhere: the build tells so at its end.
  if (!existsSync(root + target)) return href;
  return `${repository}/${statSync(root + target).isDirectory() ? 'tree' : 'blob'}/main/${target}${rest}`;
}

/** Anchors are GitHub's, because the same pages are read there: what links to a heading there does so here. */
export const slugify = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');

/** The first heading of a file in Markdown. */
export function titleOf(source: string): string {
  const [, title] = /^# (.+)$/m.exec(readFileSync(root + source, 'utf8')) ?? [];
  if (!title) throw new Error(`${source} has no heading of the first level.`);
  return title.replaceAll('`', '');
}

/** What an example begins with: lines of comments, or one comment of a style sheet. */
export const FIRST_COMMENT = /^(?:(?:\/\/.*\n)+|(?:--.*\n)+|\/\*(?!\*)[\s\S]*?\*\/)/;

/** What the first lines of an example say of it. */
export function describeExample(source: string): string {
  const [comment = ''] = FIRST_COMMENT.exec(readFileSync(root + source, 'utf8')) ?? [];
  return comment
    .replace(/^(\/\/|--|\/\*) ?|\*\/$/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
}
