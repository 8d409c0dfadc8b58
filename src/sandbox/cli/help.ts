// What the help prints: of all commands, or of one. Every line fits a terminal of 80 columns.

import { columns, WIDTH, wrap } from '../../terminal/columns.ts';
import { COMMAND_NAMES, COMMANDS, type CommandEntry, type CommandName, entryOf } from './commands.ts';
import { isValueOption, OPTIONS, type Option, type OptionName } from './options.ts';

const PROGRAM = 'payment-gateway-sandbox';

const EXIT_CODES =
  'Exit codes: 0 good; 1 not as expected, or not in time; 2 not understood, refused, or no sandbox there.';

const ANYWHERE = { '--version': 'print the version', '-h, --help': 'print the help of a command' };

/** @param name of a command; without it, of all */
export const helpOf = (name?: CommandName): string => (name && name !== 'help' ? helpOfCommand(name) : HELP);

const table = (entries: Readonly<Record<string, string>>): string =>
  columns(
    Object.entries(entries).map(([name, does]) => [name, does.replaceAll('`', '')]),
    WIDTH,
  );

const section = (title: string, entries: Readonly<Record<string, string>>): string => `${title}\n${table(entries)}`;

/** As it is typed: `redeliver <delivery>`. */
function usageOf(name: CommandName): string {
  const { arguments: wanted = [] } = entryOf(name);
  return [name, ...wanted.map(({ name, isOptional }) => (isOptional ? `[${name}]` : `<${name}>`))].join(' ');
}

function helpOfCommand(name: CommandName): string {
  const { does, options, more = [], lists = [], examples = [] }: CommandEntry = COMMANDS[name];
  const usage = name === 'serve' ? `${PROGRAM} [serve] [options]` : `${PROGRAM} ${usageOf(name)} [options]`;
  return [
    wrap(`${usage}: ${does}.`),
    ...(Object.keys(options).length > 0 ? [section('Options', optionsOf(options))] : []),
    ...more.map(paragraph => wrap(paragraph)),
    ...lists.map(({ title, entries }) => section(title, entries)),
    ...(examples.length > 0 ? [`Examples\n${examples.map(example => `  ${PROGRAM} ${example}`).join('\n')}`] : []),
  ].join('\n\n');
}

function optionsOf(options: CommandEntry['options']): Record<string, string> {
  const rows = Object.entries(options).map(([name, does]) => [written(name as OptionName), does]);
  return Object.fromEntries(rows);
}

function written(name: OptionName): string {
  const option: Option = OPTIONS[name];
  return isValueOption(option) ? `--${name} ${option.value}` : `--${name}`;
}

const HELP = [
  wrap(`${PROGRAM}: the payment gateway, on this machine. No account, no network, no money.`),
  section('Commands', Object.fromEntries(COMMAND_NAMES.map(name => [usageOf(name), COMMANDS[name].does]))),
  section('Options of serve, which is the command if there is no other', optionsOf(COMMANDS.serve.options)),
  section('Options of all', ANYWHERE),
  wrap(`The options of each command, and the names of scenarios and faults: ${PROGRAM} help <command>.`),
  wrap(EXIT_CODES),
].join('\n\n');
