// The documents and what is in them: every page of docs/, and the README.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

export const textOf = (file: string): string => readFileSync(root + file, 'utf8');

/** Paths from the root. docs/site is built of them, and is none of them. */
export const pages: readonly string[] = [
  'README.md',
  ...readdirSync(`${root}docs`, { recursive: true, encoding: 'utf8' })
    .map(name => `docs/${name.replaceAll('\\', '/')}`)
    .filter(name => /^docs\/[\w-]+\.md$/.test(name))
    .sort(),
];

/** A fenced block of a page. */
export interface Block {
  page: string;
  /** Of its first line of code. */
  line: number;
  language: string;
  code: string;
  /** The test that runs it, where the page names one: `<!-- run by test/… -->`. */
  runBy?: string | undefined;
}

export const blocksOf = (page: string): Block[] => {
  const text = textOf(page);
  return [...text.matchAll(/(?:^<!-- run by (\S+) -->\n\n)?^```(\w+)\n([\s\S]*?)^```$/gm)].map(
    ({ 0: whole, 1: runBy, 2: language = '', 3: code = '', index }) => ({
      page,
      line: text.slice(0, index + whole.indexOf('```')).split('\n').length + 1,
      language,
      code,
      runBy,
    }),
  );
};

/** What GitHub makes of the headings of a page, for links to them. */
export const anchorsOf = (text: string): string[] =>
  [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** The rows of every table of a text, as cells. */
export const rowsOf = (text: string): string[][] =>
  [...text.matchAll(/^\|(.+)\|$/gm)]
    .map(([, row = '']) => row.split(/(?<!\\)\|/).map(cell => cell.trim()))
    .filter(cells => !cells.every(cell => /^:?-+:?$/.test(cell)));

/** The part of a page under a heading, up to the next one of its level or above. */
export function sectionOf(page: string, heading: string): string {
  const text = textOf(page);
  const found = new RegExp(`^(#+) ${heading.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`, 'm').exec(text);
  if (!found) throw new Error(`${page} has no heading "${heading}".`);
  const rest = text.slice(found.index + found[0].length);
  const end = new RegExp(`^#{1,${found[1]?.length}} `, 'm').exec(rest)?.index;
  return rest.slice(0, end);
}
