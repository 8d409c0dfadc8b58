// docs/errors.md has every class and code of the source, and no other.
import { readdirSync } from 'node:fs';
import * as sdk from 'payment-gateway-sdk';
import { SandboxError } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it } from 'vitest';
import { root, rowsOf, sectionOf, textOf } from './pages.ts';

const PAGE = 'docs/errors.md';

const SOURCES = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.ts'))
  .map(name => textOf(`src/${name}`));

/** The texts of a union type, or of a field's type, in any source file. */
function unionOf(start: string): string[] {
  const [union = ''] = SOURCES.flatMap(source => new RegExp(`${start}([^;]*);`).exec(source)?.[1] ?? []);
  return [...union.matchAll(/'(\w+)'/g)].map(([, code = '']) => code);
}

/** The codes in the first column of the tables of a section. */
const codesIn = (heading: string, nth = 0): string[] => {
  const [table = ''] =
    sectionOf(PAGE, heading)
      .match(/(?:^\|.*\n)+/gm)
      ?.slice(nth) ?? [];
  return rowsOf(table)
    .slice(1)
    .flatMap(([first = '']) => [...first.matchAll(/`(\w+)`/g)].map(([, code = '']) => code));
};

describe('docs/errors.md', () => {
  it('has each class, with its code', () => {
    const classes = Object.values(sdk).filter(
      (value): value is typeof sdk.GatewayError =>
        typeof value === 'function' && value.prototype instanceof sdk.GatewayError,
    );
    const source = textOf('src/errors.ts');
    const expected = classes.flatMap(({ name }) => {
      const [, body = ''] = new RegExp(`class ${name} extends[^{]*{([^]*?)^}`, 'm').exec(source) ?? [];
      // The value of the class itself, if the type also names those of its subclasses.
      const codes = [...(/readonly code(?:: [^=;]*)?(?: = '(\w+)')/.exec(body) ?? [])].slice(1);
      return [name, ...codes];
    });
    expect(classes.length).toBeGreaterThan(10);
    expect(codesIn('The classes').toSorted()).toEqual(expected.toSorted());
  });

  it.each([
    ['Codes of `WebhookError`', 0, 'type WebhookErrorCode ='],
    ['Warnings', 0, 'type WarningCode ='],
    ['Warnings', 1, 'type CallbackWarningCode ='],
    ['Codes of `SandboxError`', 0, "readonly name = 'SandboxError';[^:]*readonly code:"],
  ])('has under %s (table %i) those of the %s', (heading, nth, start) => {
    const codes = unionOf(start);
    expect(codes.length).toBeGreaterThan(1);
    expect(codesIn(heading, nth).toSorted()).toEqual(codes.toSorted());
  });

  it('has the codes of ConnectionError that are its own', () => {
    const [, named = ''] = /class ConnectionError[\s\S]*?\/\*\* (.*) \*\//.exec(textOf('src/errors.ts')) ?? [];
    const own = [...named.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code);
    expect(own).toEqual(['timeout', 'aborted', 'fetch_failed']);
    expect(codesIn('Codes of `ConnectionError`')).toEqual(expect.arrayContaining(own));
  });

  it('has the answer for each code of a callback', () => {
    const [, refusals = ''] = /const REFUSALS[^{]*{([^}]*)}/.exec(textOf('src/webhooks/reply.ts')) ?? [];
    const answers = Object.fromEntries(
      [...refusals.matchAll(/(\w+): (\d+)/g)].map(([, code, status]) => [code, status]),
    );
    const rows = rowsOf(sectionOf(PAGE, 'Codes of `WebhookError`')).slice(1);
    for (const [code = '', status] of rows) {
      expect([code, status]).toEqual([code, answers[code.replaceAll('`', '')] ?? '503']);
    }
  });

  it('has the statuses of a refusal', () => {
    const [, list = ''] = /const REFUSALS[^[]*\[([^\]]*)\]/.exec(textOf('src/statuses.ts')) ?? [];
    const statuses = list.match(/\d+/g)?.map(Number) ?? [];
    const inWords = '400–406, 411, 413–415, 422, 429, 431';
    const listed = inWords.split(', ').flatMap(range => {
      const [from = 0, to = from] = range.split('–').map(Number);
      return Array.from({ length: to - from + 1 }, (_, index) => from + index);
    });
    expect([...listed, 451]).toEqual(statuses);
    expect(textOf(PAGE)).toContain(`${inWords} and 451`);
    expect(textOf('docs/what-the-gateway-leaves-open.md')).toContain(`${inWords}, 451`);
  });

  it('says that the error of the sandbox is not a GatewayError', () => {
    expect(SandboxError.prototype instanceof sdk.GatewayError).toBe(false);
  });
});
