// What the command lines of the package share: reading arguments, columns, and text that moves no cursor.
import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { columns, WIDTH, wrap } from '../../src/terminal/columns.ts';
import { readCommandLine } from '../../src/terminal/command-line.ts';
import { completionOf } from '../../src/terminal/completion.ts';
import { helpOf } from '../../src/terminal/help.ts';
import { number, oneOf, text } from '../../src/terminal/options.ts';
import { endWithReader, outliveReader } from '../../src/terminal/output.ts';
import { printable } from '../../src/terminal/printable.ts';
import type { Program } from '../../src/terminal/program.ts';
import { UsageError, unknown } from '../../src/terminal/usage-error.ts';

const PROGRAM: Program = {
  name: 'till',
  does: 'a till.',
  options: {
    port: number(0, 9),
    tag: { ...text('<tag>'), isRepeated: true },
    note: text('<note>'),
    json: { short: 'j' },
  },
  commands: {
    open: { does: 'open it', options: { port: 'where', json: 'print JSON' } },
    show: {
      does: 'show a sale',
      arguments: [{ name: 'sale' }, { name: 'kind', isOptional: true, values: ['cash', 'card'], orFile: /\.txt$/ }],
      options: { tag: 'a tag', note: 'a note', json: 'print JSON' },
    },
  },
  exitCodes: 'Exit code: 0.',
};
const read = (...line: string[]) => readCommandLine(PROGRAM, line);
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
    expect(read('open', '--port=1', '-j')).toEqual({ name: 'open', args: [], values: { port: 1, json: true } });
    expect(read('--tag', 'a', 'show', '--tag=b', 'sale-1', '--note', 'c', 'card')).toEqual({
      name: 'show',
      args: ['sale-1', 'card'],
      values: { tag: ['a', 'b'], note: 'c' },
    });
    expect(read('show', 'sale-1', 'x.txt')).toMatchObject({ args: ['sale-1', 'x.txt'] });
  });

  it('may name no command, where there is one for that', () => {
    expect(readCommandLine({ ...PROGRAM, otherwise: 'open' }, ['--port', '1'])).toEqual({
      name: 'open',
      args: [],
      values: { port: 1 },
    });
  });

  it('is answered with help, of all commands or of one', () => {
    for (const line of [['--help'], ['-h'], ['help'], ['help', 'help'], ['help', '-h']])
      expect(read(...line)).toEqual({ prints: helpOf(PROGRAM) });
    for (const line of [
      ['show', '--help'],
      ['-h', 'show'],
      ['help', 'show'],
      ['show', '--port', '5', '-h'],
    ])
      expect(read(...line)).toEqual({ prints: helpOf(PROGRAM, 'show') });
    expect(readCommandLine({ ...PROGRAM, otherwise: 'open' }, ['-h'])).toEqual({
      prints: helpOf({ ...PROGRAM, otherwise: 'open' }),
    });
  });

  it('is answered with the version of the package, and with a completion', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    for (const flag of ['--version', '-v']) expect(read(flag)).toEqual({ prints: version });
    expect(read('show', '--version')).toEqual({ prints: version });
    for (const shell of ['bash', 'zsh', 'fish'] as const)
      expect(read('completion', shell)).toEqual({ prints: completionOf(PROGRAM, shell) });
  });

  it.each<[string, string[], string]>([
    ['no command', [], 'Which command? There are: open, show, completion, help.'],
    ['a mistyped command', ['opne'], 'No command is called "opne". Did you mean open?'],
    ['help of a mistyped command', ['help', 'opne'], 'No command is called "opne". Did you mean open?'],
    ['a mistyped command with --help', ['opne', '--help'], 'No command is called "opne". Did you mean open?'],
    ['a name that every object has', ['toString'], 'No command is called "toString". There are: open, show'],
    ['a mistyped option', ['open', '--prot', '1'], 'No option is called "--prot". Did you mean --port?'],
    [
      'a short option that there is not',
      ['-x'],
      'No option is called "--x". There are: --port, --tag, --note, --json, --help, --version.',
    ],
    ['an option without its value', ['open', '--port'], "Option '--port <value>' argument missing."],
    [
      'a value that looks like an option',
      ['open', '--port', '-1'],
      "Option '--port' argument is ambiguous. Did you forget to specify the option argument for '--port'? To specify an option argument starting with a dash use '--port=-XYZ'.",
    ],
    ['a flag with a value', ['--json=1'], "Option '-j, --json' does not take an argument."],
    ['an option of another command', ['open', '--tag', 'a'], '--tag is for show, not for open.'],
    ['an option of other commands', ['help', '--json'], '--json is for open and show, not for help.'],
    ['a value that is not taken', ['open', '--port', '10'], '--port takes a number from 0 to 9, and not "10".'],
    ['one of many values', ['show', 'a', '--tag', 'a', '--tag='], '--tag must not be empty.'],
    ['no argument', ['show'], 'Which sale? See help show.'],
    ['an empty argument', ['show', ''], 'Which sale? See help show.'],
    ['an argument that there is not', ['show', 'a', 'crad'], 'No kind is called "crad". Did you mean card?'],
    ['an argument too many', ['show', 'a', 'card', 'b'], '"b" is one argument too many: see help show.'],
    ['no shell', ['completion'], 'Which shell? There are: bash, zsh, fish.'],
    ['another shell', ['completion', 'powershell'], 'No shell is called "powershell". There are: bash, zsh, fish.'],
  ])('is refused in one line for %s', (_, line, message) => {
    expect(messageOf(() => read(...line))).toContain(message);
  });

  it('is refused with the help, where many commands have the option', () => {
    const { open } = PROGRAM.commands;
    const many = { ...PROGRAM.commands, a: open, b: open, c: open, d: open } as Program['commands'];
    const line = ['show', 'sale-1', '--port', '1'];
    expect(messageOf(() => readCommandLine({ ...PROGRAM, commands: many }, line))).toBe(
      'show takes no --port: see help show.',
    );
    const { d: _, ...fewer } = many;
    expect(messageOf(() => readCommandLine({ ...PROGRAM, commands: fewer }, line))).toBe(
      '--port is for open and a and b and c, not for show.',
    );
  });

  it('lets a command check an argument by itself', () => {
    const check = (given: string) => {
      if (given === 'b') throw new UsageError('b is no sale.');
    };
    const show = { does: 'show a sale', arguments: [{ name: 'sale', check }], options: {} };
    const program = { ...PROGRAM, commands: { show } };
    expect(readCommandLine(program, ['show', 'a'])).toEqual({ name: 'show', args: ['a'], values: {} });
    expect(messageOf(() => readCommandLine(program, ['show', 'b']))).toBe('b is no sale.');
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

it('a value is named by what it may be, where that is short', () => {
  expect([oneOf(['a', 'b']).value, oneOf(['a', 'b', 'c']).value]).toEqual(['a|b', '<name>']);
});

it('fish is told which options take a value, and which values those are', () => {
  const options = { ...PROGRAM.options, kind: oneOf(['cash', 'card']) };
  const open = { does: 'open it', options: { port: 'where', json: 'print JSON', kind: 'how' } };
  const lines = completionOf({ ...PROGRAM, options, commands: { open } }, 'fish').split('\n');
  expect(lines.filter(line => line.includes(' -l '))).toEqual([
    "complete -c till -n '__fish_seen_subcommand_from open' -l port -r -d 'where'",
    "complete -c till -n '__fish_seen_subcommand_from open' -l json -d 'print JSON'",
    "complete -c till -n '__fish_seen_subcommand_from open' -l kind -r -f -a 'cash card' -d 'how'",
  ]);
});

describe('the help', () => {
  const program: Program = {
    ...PROGRAM,
    otherwise: 'open',
    lists: [{ title: 'Environment', entries: { TILL: 'which `till`' } }],
    commands: {
      ...PROGRAM.commands,
      print: {
        does: 'print a receipt',
        arguments: [{ name: 'kind', values: ['a'], orFile: /x/ }],
        options: {},
        more: ['It takes paper.'],
        lists: [{ title: 'Kinds', entries: { a: 'the first' } }],
        examples: ['print a'],
      },
    },
  };

  it('of all lists the commands, the options of the one that needs no name, and what there is besides', () => {
    expect(helpOf(program)).toBe(`till: a till.

Commands
  open                        open it
  show <sale> [kind or file]  show a sale
  print <kind or file>        print a receipt
  completion <shell>          print the completion for a shell
  help [command]              print this, or the help of a command

Options of open, which is the command if there is no other
  --port <number>  where
  --json           print JSON

Options of all
  -v, --version  print the version
  -h, --help     print the help of a command

Environment
  TILL  which till

What each command takes: till help <command>.

Exit code: 0.`);
    expect(helpOf(PROGRAM)).not.toContain('Options of open');
  });

  it('of one has its options, paragraphs, lists and examples', () => {
    expect(helpOf(program, 'print')).toBe(`till print <kind or file> [options]: print a receipt.

It takes paper.

Kinds
  a  the first

Examples
  till print a`);
    expect(helpOf(program, 'open')).toBe(`till [open] [options]: open it.

Options
  --port <number>  where
  --json           print JSON`);
    expect(helpOf(PROGRAM, 'open')).toMatch(/^till open \[options\]: open it\.\n/);
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
