// The lists beside the pages: that of the guides is the index in docs/README.md, and what it does not name follows.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { examples, generated, manifest, pages, resolveLink, root, titleOf } from './pages.ts';

/** As VitePress takes it. */
interface Item {
  text: string;
  link?: string;
  items?: Item[];
  collapsed?: boolean;
}

const INDEX = 'docs/README.md';

/** The headings of an index, and its links below them, nested as they are there. */
export function readIndex(markdown: string, linkOf: (href: string) => string): Item[] {
  const groups: Item[] = [];
  /** The items that are open, and how far each is indented. */
  let open: { indent: number; item: Item }[] = [];
  for (const line of markdown.split('\n')) {
    const [, heading] = /^## (.+)$/.exec(line) ?? [];
    if (heading) {
      const item: Item = { text: heading, items: [] };
      groups.push(item);
      open = [{ indent: -1, item }];
    }
    const [, indent = '', text, href] = /^(\s*)[-*] \[([^\]]+)\]\(([^)\s]+)\)/.exec(line) ?? [];
    if (!text || !href || open.length === 0) continue;
    open = open.filter(parent => parent.indent < indent.length);
    const item: Item = { text: text.replaceAll('`', ''), link: linkOf(href) };
    const parent = open.at(-1)?.item;
    if (parent) parent.items = [...(parent.items ?? []), item];
    open.push({ indent: indent.length, item });
  }
  return groups;
}

const linksOf = (items: readonly Item[]): string[] =>
  items.flatMap(({ link, items = [] }) => [...(link ? [link.replace(/#.*/, '')] : []), ...linksOf(items)]);

const itemOf = (source: string): Item => ({ text: titleOf(source), link: `/${pages.get(source)}` });

function guides(): Item[] {
  const index = existsSync(root + INDEX) ? readFileSync(root + INDEX, 'utf8') : '';
  const groups = readIndex(index, href => resolveLink(INDEX, href));
  const named = new Set(linksOf(groups));
  const rest = (inFolder: RegExp) =>
    [...pages.keys()].filter(source => inFolder.test(source) && !named.has(`/${pages.get(source)}`)).map(itemOf);
  const more: Item[] = [
    { text: 'More', items: rest(/^docs\/(?!README)[^/]+\.md$/) },
    { text: 'Examples', link: '/examples/index.md', collapsed: true, items: examples.map(exampleItem) },
    { text: 'Project', items: rest(/^[^/]+\.md$/) },
  ];
  return [...groups, ...more.filter(({ items = [] }) => items.length > 0)];
}

const exampleItem = (source: string): Item => ({
  text: source.replace('examples/', ''),
  link: `/${pages.get(source)}`,
});

/** The API, by entry point: what can be called by name, and the tables of the rest. */
function api(): Item[] {
  const names = Object.keys(manifest.exports).map(path => path.replace(/^\./, manifest.name));
  return names.flatMap((name): Item[] => {
    const index = `/api/${name}/index.md`;
    const text = existsSync(generated + index) ? readFileSync(generated + index, 'utf8') : undefined;
    if (text === undefined) return [];
    const items = [...text.matchAll(/^## (.+)$/gm)].map(([, kind = '']): Item => {
      const folder = kind.toLowerCase();
      if (folder !== 'classes' && folder !== 'functions')
        return { text: kind, link: `${index}#${kind.toLowerCase().replaceAll(' ', '-')}` };
      const pages = globSync(`api/${name}/${folder}/*.md`, { cwd: generated }).map(path => path.replaceAll('\\', '/'));
      return { text: kind, items: pages.sort().map(path => ({ text: posix.basename(path, '.md'), link: `/${path}` })) };
    });
    return [{ text: name, link: index, items, collapsed: name !== manifest.name }];
  });
}

/** Folders are linked as such, and not by their `index.md`. */
const toFolders = (list: readonly Item[]): Item[] =>
  list.map(({ link, items, ...item }) => ({
    ...item,
    ...(link !== undefined && { link: link.replace(/\/index\.md(?=#|$)/, '/') }),
    ...(items && { items: toFolders(items) }),
  }));

export const sidebar = (): Record<string, Item[]> => ({ '/api/': toFolders(api()), '/': toFolders(guides()) });
