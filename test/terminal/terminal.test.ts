// What the command lines of the package share: reading arguments, columns, and text that moves no cursor.
import { describe, expect, it, vi } from 'vitest';
import { parse, UsageError, unknown } from '../../src/terminal/arguments.ts';
import { columns, WIDTH, wrap } from '../../src/terminal/columns.ts';
import { endWithReader, outliveReader } from '../../src/terminal/output.ts';
import { printable } from '../../src/terminal/printable.ts';

const OPTIONS = { port: { type: 'string' }, json: { type: 'boolean', short: 'j' } } as const;
const messageOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return 'nothing was thrown';
};

describe('a command line', () => {
  it('has options and arguments, in any order', () => {
    const { values, positionals } = parse(['show', '--port=1', '-j', 'a'], OPTIONS);
    expect([{ ...values }, positionals]).toEqual([{ port: '1', json: true }, ['show', 'a']]);
  });

  it.each<[string, string[], string]>([
    ['a mistyped option', ['--prot', '1'], 'No option is called "--prot". Did you mean --port?'],
    ['a short option that there is not', ['-x'], 'No option is called "--x". There are: --port, --json.'],
    ['an option without its value', ['--port'], "Option '--port <value>' argument missing."],
    [
      'a value that looks like an option',
      ['--port', '-1'],
      "Option '--port' argument is ambiguous. Did you forget to specify the option argument for '--port'? To specify an option argument starting with a dash use '--port=-XYZ'.",
    ],
    ['a flag with a value', ['--json=1'], "Option '-j, --json' does not take an argument."],
  ])('is refused in one line for %s', (_, args, message) => {
    expect(messageOf(() => parse(args, OPTIONS))).toBe(message);
  });

  it('is told of a name that there is not, and of the one that was meant', () => {
    expect(unknown('command', 'srve', ['serve', 'list']).message).toBe(
      'No command is called "srve". Did you mean serve?',
    );
    expect(unknown('command', 'xyz', ['serve', 'list']).message).toBe(
      'No command is called "xyz". There are: serve, list.',
    );
  });

  it('asks which is meant, where there is no name', () => {
    expect(unknown('command', '', ['serve', 'list'])).toBeInstanceOf(UsageError);
    expect(unknown('command', '', ['serve', 'list']).message).toBe('Which command? There are: serve, list.');
  });
});

describe('columns', () => {
  it('stand below each other, indented, with two spaces between and none at the end', () => {
    expect(
      columns([
        ['a', 'long', 'x'],
        ['wide', 'b', ''],
        ['c', '', 'no longer than it is'],
      ]),
    ).toBe(['  a     long  x', '  wide  b', '  c           no longer than it is'].join('\n'));
  });

  it('break the last cell between words, and go on below it', () => {
    // 2 of the margin, 3 of the name, 2 between: 13 are left of 20.
    expect(columns([['one', 'twelve words and 13 in a row']], 20)).toBe(
      ['  one  twelve words', '       and 13 in a', '       row'].join('\n'),
    );
    expect(columns([['one', '1234567890123 5']], 20)).toBe('  one  1234567890123\n       5');
    expect(columns([['one', '12345678901 3 5']], 20)).toBe('  one  12345678901 3\n       5');
  });

  it('do not break a word that is too long', () => {
    expect(columns([['x', 'https://shop.example/callbacks']], 10)).toBe('  x  https://shop.example/callbacks');
    expect(columns([['x', 'see https://shop.example/callbacks']], 10)).toBe(
      '  x  see\n     https://shop.example/callbacks',
    );
  });

  it('can have rows of another length', () => {
    expect(columns([['a'], [], ['b', 'c']])).toBe('  a\n\n  b  c');
  });
});

it('a paragraph is broken at 80 columns', () => {
  expect(WIDTH).toBe(80);
  const words = `${'a'.repeat(70)} ${'b'.repeat(9)} c`;
  expect(wrap(words)).toBe(`${'a'.repeat(70)} ${'b'.repeat(9)}\nc`);
});

it('text of others moves no cursor, changes no colour and begins no line', () => {
  expect(printable('a\u001b[31mb\r\nc\u2028d\u2029e\u202ef\u200bg\u0085h')).toBe('a·[31mb··c·d·e·f·g·h');
  expect(printable('zażółć 私 🙂 -')).toBe('zażółć 私 🙂 -');
});

describe('where nobody reads what is printed', () => {
  /** Lets a program react to an error of its output. */
  function react(program: () => void, stream: NodeJS.WriteStream, code: string): unknown {
    const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
    const before = new Set([process.stdout, process.stderr].flatMap(each => each.listeners('error')));
    program();
    const added = stream.listeners('error').filter(listener => !before.has(listener));
    try {
      for (const listener of added) listener(Object.assign(new Error(code), { code }));
      return exit.mock.calls;
    } catch (error) {
      return error;
    } finally {
      for (const each of [process.stdout, process.stderr]) {
        for (const listener of each.listeners('error')) {
          if (!before.has(listener)) each.off('error', listener as () => void);
        }
      }
      exit.mockRestore();
    }
  }

  describe.each([
    ['stdout', process.stdout],
    ['stderr', process.stderr],
  ])('%s', (_, stream) => {
    it('a program that only prints ends', () => {
      expect(react(endWithReader, stream, 'EPIPE')).toEqual([[]]);
    });

    it('a program that works goes on', () => {
      expect(react(outliveReader, stream, 'EPIPE')).toEqual([]);
    });

    it.each([['ends', endWithReader] as const, ['works', outliveReader] as const])(
      'any other failure is one of a program that %s',
      (_, program) => {
        expect(react(program, stream, 'ENOSPC')).toMatchObject({ code: 'ENOSPC' });
      },
    );
  });
});
