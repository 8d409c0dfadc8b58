// What the help of a program prints: of all commands, or of one. Every line fits a terminal of 80 columns.
import { columns, WIDTH, wrap } from './columns.ts';
import { isValueOption, type Option } from './options.ts';
import { type CommandEntry, entriesOf, entryOf, type Program } from './program.ts';

/** @param name of a command; without it, of all */
export const helpOf = (program: Program, name?: string): string =>
  name && name !== 'help' ? helpOfCommand(program, name) : helpOfAll(program);

const ANYWHERE = { '-v, --version': 'print the version', '-h, --help': 'print the help of a command' };

function helpOfAll(program: Program): string {
  const { name, does, otherwise, lists = [], exitCodes } = program;
  const entries = Object.entries(entriesOf(program)).map(([each, entry]) => [usageOf(each, entry), entry.does]);
  return [
    wrap(`${name}: ${does}`),
    section('Commands', Object.fromEntries(entries)),
    ...(otherwise
      ? [
          section(
            `Options of ${otherwise}, which is the command if there is no other`,
            optionsOf(program, entryOf(program, otherwise)),
          ),
        ]
      : []),
    section('Options of all', ANYWHERE),
    ...lists.map(({ title, entries }) => section(title, entries)),
    wrap(`What each command takes: ${name} help <command>.`),
    wrap(exitCodes),
  ].join('\n\n');
}

function helpOfCommand(program: Program, name: string): string {
  const entry = entryOf(program, name);
  const { does, options, more = [], lists = [], examples = [] } = entry;
  const usage = name === program.otherwise ? `[${name}]` : usageOf(name, entry);
  return [
    wrap(`${program.name} ${usage} [options]: ${does}.`),
    ...(Object.keys(options).length > 0 ? [section('Options', optionsOf(program, entry))] : []),
    ...more.map(paragraph => wrap(paragraph)),
    ...lists.map(({ title, entries }) => section(title, entries)),
    ...(examples.length > 0 ? [`Examples\n${examples.map(example => `  ${program.name} ${example}`).join('\n')}`] : []),
  ].join('\n\n');
}

const section = (title: string, entries: Readonly<Record<string, string>>): string => {
  const rows = Object.entries(entries).map(([name, does]) => [name, does.replaceAll('`', '')]);
  return `${title}\n${columns(rows, WIDTH)}`;
};

/** As it is typed: `redeliver <delivery>`. */
function usageOf(name: string, { arguments: wanted = [] }: CommandEntry): string {
  const words = wanted.map(({ name, orFile, isOptional }) => {
    const word = orFile ? `${name} or file` : name;
    return isOptional ? `[${word}]` : `<${word}>`;
  });
  return [name, ...words].join(' ');
}

function optionsOf(program: Program, { options }: CommandEntry): Record<string, string> {
  const rows = Object.entries(options).map(([name, does]) => [written(name, program.options[name] as Option), does]);
  return Object.fromEntries(rows);
}

const written = (name: string, option: Option): string =>
  isValueOption(option) ? `--${name} ${option.value}` : `--${name}`;
