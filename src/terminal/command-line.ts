// Reads the command line of a program by its table. A mistake is reported in one line, with what was meant.
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { completionOf } from './completion.ts';
import { helpOf } from './help.ts';
import { isValueOption, type Option, type Options, readValue, type ValuesOf } from './options.ts';
import { type Argument, type CommandEntry, entryOf, namesOf, type Program, type SHELLS } from './program.ts';
import { UsageError, unknown } from './usage-error.ts';

/** A command of a program, with what was given to it. */
export interface Command<Name extends string, O extends Options> {
  name: Name;
  args: string[];
  values: ValuesOf<O>;
}

/** What every program answers by itself: its help, its version, its completion. */
export interface Printed {
  prints: string;
}

/** @throws {UsageError} */
export function readCommandLine<Name extends string, O extends Options>(
  program: Program<Name, O>,
  line: string[],
): Command<Name, O> | Printed {
  const { values: given, positionals } = parse(line, program.options);
  const [first, ...args] = positionals;
  if (given.version) return { prints: createRequire(import.meta.url)('payment-gateway-sdk/package.json').version };
  if (given.help && first === undefined) return { prints: helpOf(program) };
  const name = nameOf(program, first ?? program.otherwise);
  if (given.help) return { prints: helpOf(program, name) };
  const entry = entryOf(program, name);
  for (const option of Object.keys(given)) {
    if (entry.options[option] === undefined) throw misplaced(program, option, name);
  }
  checkArguments(entry, args, name);
  if (name === 'help') return { prints: helpOf(program, args[0] && nameOf(program, args[0])) };
  if (name === 'completion') return { prints: completionOf(program, args[0] as (typeof SHELLS)[number]) };
  return { name: name as Name, args, values: readValues(program.options, given) as ValuesOf<O> };
}

/** As `parseArgs` answers them. */
type Given = Record<string, string | boolean | (string | boolean)[] | undefined>;

function parse(args: string[], known: Options): { values: Given; positionals: string[] } {
  const options = { ...known, help: { short: 'h' }, version: { short: 'v' } };
  const parsed = Object.entries<Options[string]>(options).map(([name, option]) =>
    isValueOption(option)
      ? [name, { type: 'string', multiple: option.isRepeated === true }]
      : [name, { type: 'boolean', ...option }],
  );
  try {
    return parseArgs({ args, options: Object.fromEntries(parsed), allowPositionals: true });
  } catch (error) {
    const name = /Unknown option '--?([^']+)'/.exec(String(error))?.[1];
    if (!name) throw new UsageError(inOneLine((error as Error).message));
    const names = Object.keys(options).map(option => `--${option}`);
    throw unknown('option', `--${name}`, names);
  }
}

/** Node's messages have several lines, or no full stop. */
const inOneLine = (message: string) => `${message.replaceAll('\n', ' ').replace(/\.$/, '')}.`;

function nameOf(program: Program, given = ''): string {
  const names = namesOf(program);
  if (names.includes(given)) return given;
  throw unknown('command', given, names);
}

function misplaced(program: Program, option: string, name: string): UsageError {
  const all = Object.entries(program.commands);
  const others = all.filter(([, { options }]) => options[option] !== undefined).map(([other]) => other);
  if (others.length > 4) return new UsageError(`${name} takes no --${option}: see help ${name}.`);
  return new UsageError(`--${option} is for ${others.join(' and ')}, not for ${name}.`);
}

function checkArguments({ arguments: wanted = [] }: CommandEntry, args: string[], name: string): void {
  for (const [index, argument] of wanted.entries()) checkArgument(argument, args[index], name);
  const extra = args[wanted.length];
  if (extra !== undefined) throw new UsageError(`${JSON.stringify(extra)} is one argument too many: see help ${name}.`);
}

function checkArgument({ name, values, orFile, isOptional, check }: Argument, given = '', command: string): void {
  if (given === '' && isOptional) return;
  if (given === '' && !values) throw new UsageError(`Which ${name}? See help ${command}.`);
  if (values && !values.includes(given) && !orFile?.test(given)) throw unknown(name, given, values);
  check?.(given);
}

function readValues(options: Options, given: Given): Record<string, unknown> {
  const values = Object.entries(given).map(([name, written]) => {
    const option = options[name] as Option;
    if (!isValueOption(option)) return [name, written];
    const read = (text: unknown) => readValue(name, option, text as string);
    return [name, Array.isArray(written) ? written.map(read) : read(written)];
  });
  return Object.fromEntries(values);
}
