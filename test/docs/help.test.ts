// The page of commands is what the commands print.
import { describe, expect, it } from 'vitest';
import { SDK } from '../../src/cli/commands.ts';
import { SANDBOX } from '../../src/sandbox/cli/commands.ts';
import { helpOf } from '../../src/terminal/help.ts';
import { namesOf } from '../../src/terminal/program.ts';
import { expectDocumented } from '../support/documents.ts';
import { textOf } from './pages.ts';

const show = (name: string, text: string) => expectDocumented('commands.md', name, `\`\`\`text\n${text}\n\`\`\``);

describe.each([SDK, SANDBOX])('$name', program => {
  const names = namesOf(program).filter(name => name !== 'help');

  it('prints its help', () => {
    show(program.name, helpOf(program));
    // In these words, help prints all of them.
    expect(helpOf(program, 'help')).toBe(helpOf(program));
  });

  it.each(names)('prints the help of %s', name => show(`${program.name} ${name}`, helpOf(program, name)));

  it('has every command once on the page, in their order', () => {
    const part = textOf('docs/commands.md').split(`\n## ${program.name}\n`)[1]?.split('\n## ')[0] ?? '';
    expect([...part.matchAll(/^### (.*)$/gm)].map(([, name]) => name)).toEqual(names);
  });
});
