// Every command line in the documents is one that its command understands.
import { describe, expect, it } from 'vitest';
import { SDK } from '../../src/cli/commands.ts';
import { SANDBOX } from '../../src/sandbox/cli/commands.ts';
import { readCommandLine } from '../../src/terminal/command-line.ts';
import { pages, textOf } from './pages.ts';

const READERS = {
  sdk: (args: string[]) => readCommandLine(SDK, args),
  sandbox: (args: string[]) => readCommandLine(SANDBOX, args),
};

/** As a shell would part them, which do without quotes. */
const LINES = [...pages, 'AGENTS.md'].flatMap(page =>
  [...textOf(page).matchAll(/npx payment-gateway-(sdk|sandbox)([^\n`]*)/g)].map(([line, name, rest = '']) => ({
    page,
    line: line.trim(),
    read: READERS[name as keyof typeof READERS],
    args:
      rest
        .split(/ (?:>|>>|2>) ?/)[0]
        ?.trim()
        .split(/\s+/)
        .filter(Boolean) ?? [],
  })),
);

describe('the command lines of the documents', () => {
  it('are found', () => expect(LINES.length).toBeGreaterThan(20));

  it.each(LINES)('$page: $line', ({ read, args }) => {
    // Arguments alone: nothing is opened, and nothing runs.
    expect(() => read(args)).not.toThrow();
    expect(() => read([...args, '--no-such-option'])).toThrow();
  });
});
