// docs/options.md names every option, with the default of its doc comment. No other page states another default.
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { pages, rowsOf, textOf } from './pages.ts';

const TABLES = [...textOf('docs/options.md').matchAll(/<!-- options: (\w+) of (\S+) -->\n\n((?:\|.*\n)+)/g)].map(
  ([, name = '', file = '', table = '']) => ({ name, file, rows: rowsOf(table).slice(1) }),
);

const codeIn = (cell = ''): string | undefined => /^`([^`]+)`$/.exec(cell)?.[1];
const plain = (text: string) => text.replace(/(?<=\d)[_,](?=\d)/g, '').replace('process.env.', '');

/** The options of an interface, each with the `@default` of its comment. */
function optionsOf(file: string, name: string): Map<string, string | undefined> {
  const source = ts.createSourceFile(file, textOf(file), ts.ScriptTarget.Latest, true);
  const options = new Map<string, string | undefined>();
  const visit = (node: ts.Node): void => {
    if (ts.isInterfaceDeclaration(node) && node.name.text === name) {
      for (const member of node.members) {
        const [tag] = ts.getJSDocTags(member).filter(({ tagName }) => tagName.text === 'default');
        options.set(member.name?.getText() ?? '', ts.getTextOfJSDocComment(tag?.comment));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return options;
}

describe('docs/options.md', () => {
  it('has a table for each interface of options', () => {
    expect(TABLES.length).toBeGreaterThan(10);
    expect(new Set(TABLES.map(({ name }) => name)).size).toBe(TABLES.length);
  });

  it.each(TABLES)('$name: each option, and no other', ({ name, file, rows }) => {
    expect(rows.map(([option]) => codeIn(option)).sort()).toEqual([...optionsOf(file, name).keys()].sort());
  });

  it.each(TABLES)('$name: the defaults of its comments', ({ name, file, rows }) => {
    const defaults = optionsOf(file, name);
    for (const [option, stated = ''] of rows) {
      const own = codeIn(option) ?? '';
      const comment = defaults.get(own);
      const shown = codeIn(stated);
      // A dash means no default. Words describe a default that the comment describes in words.
      if (stated === '–') expect([own, comment]).toEqual([own, undefined]);
      else if (shown === undefined) expect([own, comment]).toEqual([own, expect.any(String)]);
      else expect([own, plain(comment?.split(', ')[0] ?? '')]).toEqual([own, plain(shown)]);
    }
  });
});

const stated = TABLES.flatMap(({ rows }) => rows).map(([option, value]) => `${option} ${plain(value ?? '')}`);

it('no other page states another default: `option` (default `value`)', () => {
  const found = pages.flatMap(page =>
    [...textOf(page).matchAll(/(`\w+`) \(default\s(`[^`]+`)/g)].map(([, name, value = '']) => ({
      page,
      claim: `${name} ${plain(value)}`,
    })),
  );
  expect(found).not.toEqual([]);
  expect(found.filter(({ claim }) => !stated.includes(claim))).toEqual([]);
});
