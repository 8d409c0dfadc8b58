// The page of commands is what the commands print.
import { expect, it } from 'vitest';
import { HELP } from '../../src/cli/help.ts';
import { COMMAND_NAMES } from '../../src/sandbox/cli/commands.ts';
import { helpOf } from '../../src/sandbox/cli/help.ts';
import { expectDocumented } from '../support/documents.ts';
import { textOf } from './pages.ts';

const show = (name: string, text: string) => expectDocumented('commands.md', name, `\`\`\`text\n${text}\n\`\`\``);

it('payment-gateway-sdk', () => show('payment-gateway-sdk', HELP));

it('payment-gateway-sandbox', () => {
  show('payment-gateway-sandbox', helpOf());
  // In these words, help prints all of them.
  expect(helpOf('help')).toBe(helpOf());
});

const others = COMMAND_NAMES.filter(name => name !== 'help');
it.each(others)('payment-gateway-sandbox %s', name => show(name, helpOf(name)));

it('the page has every command once, in their order', () => {
  const headings = [...textOf('docs/commands.md').matchAll(/^### (.*)$/gm)].map(([, name]) => name);
  expect(headings).toEqual(others);
});
