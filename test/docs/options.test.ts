// docs/options.md names every option there is, with the default that the code has; and no other page says otherwise.
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { pages, rowsOf, textOf } from './pages.ts';

const TABLES = [...textOf('docs/options.md').matchAll(/<!-- options: (\w+) of (\S+) -->\n\n((?:\|.*\n)+)/g)].map(
  ([, name = '', file = '', table = '']) => ({ name, file, rows: rowsOf(table).slice(1) }),
);

/** The numbers that the code gives a name to. */
const CONSTANTS: Record<string, string> = {
  DEFAULT_SIZE: constantOf('src/sql/database.ts', 'DEFAULT_SIZE'),
  DEFAULT_SETTLE_MARGIN: constantOf('src/journal/contract.ts', 'DEFAULT_SETTLE_MARGIN'),
  DAY: constantOf('src/journal/sweep-options.ts', 'DAY'),
};

function constantOf(file: string, name: string): string {
  const [, value = ''] = new RegExp(`const ${name} = ([\\d_]+);`).exec(textOf(file)) ?? [];
  expect(value, `${name} in ${file}`).not.toBe('');
  return value;
}

/** As it can be compared: without separators, constants put in, and a product worked out. */
function plain(written: string): string {
  const named = written.replace(/\b[A-Z][A-Z_]+\b/g, name => CONSTANTS[name] ?? name).replace(/(?<=\d)[_,](?=\d)/g, '');
  const [, left, right] = /^(\d+) \* (\d+)$/.exec(named) ?? [];
  if (left) return String(Number(left) * Number(right));
  return named.replace(/^\(\) => /, '');
}

interface Found {
  /** The options that the interface declares by itself, each with the `@default` of its comment. */
  declared: Map<string, string | undefined>;
  /** The defaults that the code fills in. */
  filledIn: Map<string, string>;
}

/** Reads an interface, and the defaults of schemas (`.default(…)`), of patterns (`{ name = … }`) and of `name: name ?? …`. */
function read(file: string, name: string): Found {
  const source = ts.createSourceFile(file, textOf(file), ts.ScriptTarget.Latest, true);
  const found: Found = { declared: new Map(), filledIn: new Map() };
  const byPattern = new Map<string, string>();
  const visit = (node: ts.Node): void => {
    if (ts.isInterfaceDeclaration(node) && node.name.text === name) {
      for (const member of node.members) {
        const [tag] = ts.getJSDocTags(member).filter(({ tagName }) => tagName.text === 'default');
        found.declared.set(member.name?.getText() ?? '', ts.getTextOfJSDocComment(tag?.comment));
      }
    }
    if (ts.isPropertyAssignment(node)) {
      const value = node.initializer;
      const [, environment] = /^fromEnvironment\('(\w+)'/.exec(value.getText()) ?? [];
      if (environment) found.filledIn.set(node.name.getText(), environment);
      if (ts.isCallExpression(value) && ts.isPropertyAccessExpression(value.expression)) {
        const [given] = value.arguments;
        if (value.expression.name.text === 'default' && given) found.filledIn.set(node.name.getText(), given.getText());
      }
      if (ts.isBinaryExpression(value) && value.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) {
        found.filledIn.set(node.name.getText(), value.right.getText());
      }
    }
    // Of the options, and of no header or the like.
    if (ts.isVariableDeclaration(node) && /^(readFields|readArgument|storeOptions|given|fields)\b/.test(textIn(node))) {
      if (ts.isObjectBindingPattern(node.name)) {
        for (const { propertyName, name, initializer } of node.name.elements) {
          const value = initializer?.getText() ?? '';
          if (value && !NOTHING.has(value)) byPattern.set((propertyName ?? name).getText(), value);
        }
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  for (const [option, value] of byPattern) if (!found.filledIn.has(option)) found.filledIn.set(option, value);
  return found;
}

const textIn = ({ initializer }: ts.VariableDeclaration): string => initializer?.getText() ?? '';

/** What stands for "not given" within the code. */
const NOTHING = new Set(['{}', '() => {}']);

const LITERAL = /^(?:['\d[]|true$|false$)/;

const codeIn = (cell = ''): string | undefined => /^`([^`]+)`$/.exec(cell)?.[1];

/** What the page says, by option; of an option that several functions take, all. */
const stated = new Map<string, Set<string>>();
for (const [option = '', said = ''] of TABLES.flatMap(({ rows }) => rows)) {
  const name = codeIn(option) ?? '';
  stated.set(name, new Set([...(stated.get(name) ?? []), plain(codeIn(said) ?? said)]));
}

describe('docs/options.md', () => {
  it('has the options of everything that takes some', () => {
    expect(TABLES.length).toBeGreaterThan(15);
    expect(new Set(TABLES.map(({ name }) => name)).size).toBe(TABLES.length);
  });

  it.each(TABLES)('$name: each option, and no other', ({ name, file, rows }) => {
    expect(rows.map(([option]) => codeIn(option)).sort()).toEqual([...read(file, name).declared.keys()].sort());
  });

  it.each(TABLES)('$name: the defaults of the code, and of its comments', ({ name, file, rows }) => {
    const { declared, filledIn } = read(file, name);
    for (const [option, said] of rows) {
      const own = codeIn(option) ?? '';
      const byCode = filledIn.get(own);
      const comment = declared.get(own);
      const shown = codeIn(said);
      if (shown === undefined) {
        // Words are for what a comment has in words; a dash is for no default, or one that takes code.
        if (said === '–')
          expect([own, comment, byCode && LITERAL.test(byCode)]).toEqual([own, undefined, byCode && false]);
        else expect([own, comment]).toEqual([own, expect.any(String)]);
        continue;
      }
      expect([own, plain(byCode ?? comment ?? '')]).toEqual([own, plain(shown)]);
      const [inComment = ''] = comment?.split(', ') ?? [];
      if (comment !== undefined)
        expect([own, plain(inComment.replace('process.env.', ''))]).toEqual([own, plain(shown)]);
    }
  });
});

describe('every page', () => {
  it.each(pages)('%s states no other default: `option` (default `value`)', page => {
    for (const [said, name = '', value = ''] of textOf(page).matchAll(/`(\w+)` \(default\s`([^`]+)`/g)) {
      expect([said, [...(stated.get(name) ?? [])]]).toEqual([said, expect.arrayContaining([plain(value)])]);
    }
  });
});

/** What the pages say that no option changes. */
const FIGURES: [page: string, says: string, file: string, constant: RegExp][] = [
  ['docs/callbacks.md', '25 seconds have passed', 'src/webhooks/handler.ts', /LONGEST_ANSWER = 25_000;/],
  ['docs/deployment.md', 'answered within 25 s', 'src/webhooks/handler.ts', /LONGEST_ANSWER = 25_000;/],
  ['docs/deployment.md', 'each of its statements, and its COMMIT | 5 s', 'src/sql/bounded.ts', /LONGEST_WAIT = 5_000;/],
  ['docs/deployment.md', '4 for a drain that follows', 'src/postgres/listen.ts', /SMALLEST_POOL = 4;/],
  ['docs/deployment.md', 'about 1 s, then 503', 'src/inbox/contract.ts', /= \[20, 40, 80, 160, 320, 640\];/],
  ['docs/deployment.md', 'with `Retry-After: 1`', 'src/webhooks/reply.ts', /busy: 1,/],
  ['docs/payments.md', 'is respected, up to ten seconds', 'src/http/retry-policy.ts', /LONGEST_RETRY_AFTER = 10_000;/],
  ['docs/callback-rules.md', '0.5 s and after another second', 'src/payments/lookup.ts', /= \[500, 1_000\];/],
  ['docs/what-the-gateway-leaves-open.md', 'after 0.5 s and after 1 s', 'src/payments/lookup.ts', /= \[500, 1_000\];/],
  ['docs/callback-rules.md', 'A lookup is given ten seconds', 'src/webhooks/process.ts', /LONGEST_LOOKUP = 10_000;/],
  ['docs/callback-rules.md', 'For five seconds further', 'src/webhooks/lanes.ts', /REMEMBERED_FOR = 5_000;/],
];

describe('the figures of other pages', () => {
  it.each(FIGURES)('%s: %s', (page, says, file, constant) => {
    expect(textOf(page)).toContain(says);
    expect(textOf(file)).toMatch(constant);
  });
});
