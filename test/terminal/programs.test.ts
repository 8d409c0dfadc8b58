// What holds for the help of every program of the package.
import { describe, expect, it } from 'vitest';
import { SDK } from '../../src/cli/commands.ts';
import { SANDBOX } from '../../src/sandbox/cli/commands.ts';
import { readCommandLine } from '../../src/terminal/command-line.ts';
import { helpOf } from '../../src/terminal/help.ts';
import { type CommandEntry, namesOf, type Program } from '../../src/terminal/program.ts';

describe.each<{ name: string; program: Program; examples: number }>([
  { name: 'payment-gateway-sdk', program: SDK, examples: 4 },
  { name: 'payment-gateway-sandbox', program: SANDBOX, examples: 9 },
])('the help of $name', ({ program, examples: least }) => {
  const own = Object.entries<CommandEntry>(program.commands);
  const helps = [undefined, ...namesOf(program)].map(name => [name ?? 'all', helpOf(program, name)] as const);
  /** Without its line breaks. */
  const wordsOf = (name?: string) => helpOf(program, name).replace(/\s+/g, ' ');

  it.each(helps)('fits 80 columns: of %s', (_, help) => {
    expect(help.split('\n').filter(line => line.length > 80 || line.endsWith(' '))).toEqual([]);
  });

  it('says something of every command, and of each of its options, in its own place', () => {
    for (const [name, { does, options }] of own) {
      expect(wordsOf()).toContain(does);
      expect(wordsOf(name)).toMatch(new RegExp(`^${program.name} \\[?${name}\\b`));
      for (const [option, text] of Object.entries(options)) {
        expect(helpOf(program, name)).toMatch(new RegExp(`^  --${option}\\b`, 'm'));
        expect(text).toMatch(/\w/);
        expect(wordsOf(name)).toContain(text);
      }
    }
    // Help of help is that of all.
    expect(new Set(helps.map(([, help]) => help)).size).toBe(namesOf(program).length);
  });

  it('has examples that are understood', () => {
    const examples = own.flatMap(([, { examples = [] }]) => examples);
    expect(examples.length).toBeGreaterThan(least);
    for (const example of examples)
      expect(() => readCommandLine(program, example.replace(/ >.*/, '').split(' '))).not.toThrow();
  });
});
