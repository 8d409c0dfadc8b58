// Reads the operator's command line: which command, with which options.
import { DIFFERENCES, type Difference } from '../schemas/matching.ts';
import { parse, UsageError, unknown } from '../terminal/arguments.ts';

/** Where the journal is. */
export interface Place {
  scope: string | undefined;
  table: string | undefined;
}

/** A command of the journal. */
export type JournalCommand = { json: boolean; place: Place } & (
  | { name: 'doubts' }
  | { name: 'show'; reference: string }
  | { name: 'settle'; reference: string; resolution: string; despite: Difference[] }
);

export type Command = { name: 'help' } | { name: 'version' } | JournalCommand;

const COMMANDS = ['doubts', 'show', 'settle', 'help'] as const;

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const OPTIONS = {
  json: flag,
  scope: text,
  table: text,
  despite: { ...text, multiple: true },
  help: { ...flag, short: 'h' },
  version: flag,
} as const;

/** What the arguments of each command are called. */
const WANTED: Record<(typeof COMMANDS)[number], readonly string[]> = {
  doubts: [],
  show: ['reference'],
  settle: ['reference', 'paymentId or not_created'],
  help: [],
};

/** @throws {UsageError} */
export function readCommand(args: string[]): Command {
  const { values, positionals } = parse(args, OPTIONS, ['command', ...WANTED.settle]);
  const [first = '', ...rest] = positionals;
  const name = COMMANDS.find(command => first === command);
  if (values.version) return { name: 'version' };
  if (values.help || name === 'help') return { name: 'help' };
  if (!name) throw unknown('command', first, COMMANDS);
  const wanted = WANTED[name];
  for (const [index, what] of wanted.entries()) {
    if (!rest[index]) throw new UsageError(`A ${what} is missing: see npx payment-gateway-sdk --help.`);
  }
  const extra = rest[wanted.length];
  if (extra !== undefined) throw new UsageError(`${JSON.stringify(extra)} is one argument too many: see --help.`);
  const [reference = '', resolution = ''] = rest;
  const common = { json: values.json ?? false, place: { scope: values.scope, table: values.table } };
  const { despite = [] } = values;
  if (name === 'settle') {
    return {
      ...common,
      name,
      reference,
      resolution,
      despite: despite.flatMap(names => names.split(',').map(difference)),
    };
  }
  if (despite.length > 0) throw new UsageError('--despite is for settle.');
  return name === 'doubts' ? { ...common, name } : { ...common, name, reference };
}

function difference(name: string): Difference {
  const found = DIFFERENCES.find(known => known === name.trim());
  if (found) return found;
  throw unknown('difference', name.trim(), DIFFERENCES);
}
