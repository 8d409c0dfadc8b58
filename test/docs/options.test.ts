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

it.each(pages)('%s states no other default: `option` (default `value`)', page => {
  for (const [, name, value = ''] of textOf(page).matchAll(/(`\w+`) \(default\s(`[^`]+`)/g))
    expect(stated).toContain(`${name} ${plain(value)}`);
});

/** Figures on other pages, with the constants that they repeat. */
const FIGURES: [page: string, text: string, file: string, constant: RegExp][] = [
  ['docs/callbacks.md', 'or 25 s have passed', 'src/webhooks/handler.ts', /LONGEST_ANSWER = 25_000;/],
  ['docs/callbacks.md', 'again after 0.5 s and after another second', 'src/payments/lookup.ts', /= \[500, 1_000\];/],
  ['docs/callbacks.md', '**An effect has 20 s**', 'src/webhooks/handler.ts', /default\(20_000\)/],
  ['docs/orders.md', 'wait up to 3 s', 'src/payments/orders.ts', /LONGEST_WAIT = 3_000;/],
  ['docs/orders.md', '1 to 200 bytes', 'src/payments/order-state.ts', /LONGEST_ID = 200;/],
  ['docs/payments.md', '`Retry-After` counts up to 10 s', 'src/http/retry-policy.ts', /LONGEST_RETRY_AFTER = 10_000;/],
];

it.each(FIGURES)('%s: %s', (page, text, file, constant) => {
  expect(textOf(page)).toContain(text);
  expect(textOf(file)).toMatch(constant);
});
