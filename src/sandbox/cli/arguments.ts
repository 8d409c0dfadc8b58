// Reads the command line by the table of commands. A mistake is reported in one line.
import { parse, UsageError, unknown } from '../../terminal/arguments.ts';
import { type Argument, COMMAND_NAMES, type CommandName, entryOf } from './commands.ts';
import { isValueOption, OPTIONS, type Option, type OptionName, readValue, type Values } from './options.ts';

/** A command, with what was given to it. */
export interface Command {
  name: CommandName;
  args: string[];
  values: Values;
}

/** As `parseArgs` takes them. */
const PARSED: Record<string, { type: 'string' | 'boolean'; multiple?: boolean; short?: string }> = Object.fromEntries(
  Object.entries(OPTIONS).map(([name, option]: [string, Option]) =>
    isValueOption(option)
      ? [name, { type: 'string', multiple: option.isRepeated === true }]
      : [name, { type: 'boolean', ...(option.short && { short: option.short }) }],
  ),
);

/** @throws {UsageError} */
export function readCommand(args: string[]): Command | 'version' {
  const { values, positionals } = parse(args, PARSED);
  const given: Record<string, unknown> = values;
  const name = nameOf(positionals[0]);
  const rest = positionals.slice(1);
  if (given.help) return { name: 'help', args: positionals.length === 0 ? [] : [name], values: {} };
  if (given.version && positionals.length === 0) return 'version';
  for (const option of Object.keys(given) as OptionName[]) {
    if (entryOf(name).options[option] === undefined) throw misplaced(option, name);
  }
  const { arguments: wanted = [] } = entryOf(name);
  for (const [index, argument] of wanted.entries()) checkArgument(argument, rest[index], name);
  const extra = rest[wanted.length];
  if (extra !== undefined) throw new UsageError(`${JSON.stringify(extra)} is one argument too many: see help ${name}.`);
  if (name === 'help') nameOf(rest[0]);
  return { name, args: rest, values: read(given) };
}

function nameOf(first: string | undefined): CommandName {
  if (first === undefined) return 'serve';
  const name = COMMAND_NAMES.find(known => known === first);
  if (name) return name;
  throw unknown('command', first, COMMAND_NAMES);
}

function misplaced(option: OptionName, name: CommandName): UsageError {
  const others = COMMAND_NAMES.filter(other => entryOf(other).options[option] !== undefined);
  if (others.length > 4) return new UsageError(`${name} takes no --${option}: see help ${name}.`);
  return new UsageError(`--${option} is for ${others.join(' and ') || 'no command'}, not for ${name}.`);
}

function checkArgument({ name: what, values, isOpen, isOptional }: Argument, given = '', command: CommandName): void {
  if (given === '' && isOptional) return;
  if (given === '' && !values) throw new UsageError(`Which ${what}? See help ${command}.`);
  if (!values || (isOpen && isFile(given)) || values.includes(given)) return;
  throw unknown(isOpen ? 'scenario' : what, given, values);
}

/** Whether a scenario is one of the merchant's own. */
export const isFile = (given: string): boolean => given === '-' || /\.(ya?ml|json)$/.test(given);

function read(given: Record<string, unknown>): Values {
  const values = Object.entries(given).map(([name, written]) => {
    if (written === true) return [name, true];
    const texts = Array.isArray(written) ? written : [written];
    const all = texts.map(text => readValue(name as OptionName, text));
    return [name, Array.isArray(written) ? all : all[0]];
  });
  return Object.fromEntries(values);
}
