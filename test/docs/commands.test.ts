// Every command is on its page, and its program understands every command line of the documents.
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { sdkProgram } from '../../src/cli/program.ts';
import { sandboxProgram } from '../../src/sandbox/cli/program.ts';
import { readLine } from '../support/command-lines.ts';
import { pages, rowsOf, sectionOf, textOf } from './pages.ts';

const PROGRAMS = { sdk: sdkProgram, sandbox: sandboxProgram };

/** Split as a shell would, without quotes. */
const LINES = [...pages, 'AGENTS.md'].flatMap(page =>
  [...textOf(page).matchAll(/npx payment-gateway-(sdk|sandbox)([^\n`]*)/g)].map(([line, name, rest = '']) => ({
    page,
    line: line.trim(),
    program: PROGRAMS[name as keyof typeof PROGRAMS],
    args: (rest.split(/ (?:>|>>|2>|#) ?/)[0] ?? '').split(/\s+/).filter(Boolean),
  })),
);

describe('the command lines of the documents', () => {
  it('are found', () => expect(LINES.length).toBeGreaterThan(25));

  it.each(LINES)('$page: $line', ({ program, args }) => {
    // The page names it as a variable.
    vi.stubEnv('PAYMENT_GATEWAY_SCOPE', 'eu-terminal');
    onTestFinished(() => void vi.unstubAllEnvs());
    const read = readLine(program(), args);
    if (args.some(arg => /^(--)?help$/.test(arg))) expect(read).toMatch(/^Usage: /);
    else expect(read).toMatchObject({ name: args[0]?.match(/^\w/) ? args[0] : 'serve' });
  });
});

it.each(Object.values(PROGRAMS))(
  'the page of commands has every command of a program, with an example: %#',
  program => {
    const { commands, name } = { commands: program().commands, name: program().name() };
    const rows = rowsOf(sectionOf('docs/commands.md', name)).filter(
      cells => cells.length === 3 && cells[0] !== 'command',
    );
    expect(rows.map(([command]) => command).sort()).toEqual(commands.map(one => `\`${one.name()}\``).sort());
    for (const [command = '', , example] of rows)
      expect(example).toMatch(`\`npx ${name} ${command.replaceAll('`', '')}`);
  },
);
