// Reads the command line of operators and schedulers: which command, with which options.
import type { SweepOptions } from '../journal/sweep-options.ts';
import type { DrainOptions } from '../payments/drain-options.ts';
import { isPaymentId } from '../schemas/id.ts';
import { DIFFERENCES, type Difference } from '../schemas/matching.ts';
import { parse, UsageError, unknown } from '../terminal/arguments.ts';

/** Where the journal is. */
export interface Place {
  scope: string | undefined;
  table: string | undefined;
}

/** A command of an operator. */
export type JournalCommand = { json: boolean; place: Place } & (
  | { name: 'doubts' }
  | { name: 'show'; reference: string }
  | { name: 'settle'; reference: string; resolution: string; despite: Difference[] }
);

/** A command of a scheduler. */
export type WorkCommand = {
  /** The module of the merchant's app. */
  app: string | undefined;
} & (
  | { name: 'drain'; place: Place; options: DrainOptions }
  | { name: 'sweep'; options: Omit<SweepOptions, 'handler'> }
);

export type Command = { name: 'help' } | { name: 'version' } | JournalCommand | WorkCommand;

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const OPTIONS = {
  json: flag,
  scope: text,
  table: text,
  despite: { ...text, multiple: true },
  app: text,
  limit: text,
  concurrency: text,
  follow: flag,
  'older-than': text,
  'give-up-after': text,
  help: { ...flag, short: 'h' },
  version: flag,
} as const;

type Option = keyof typeof OPTIONS;

const PLACE: readonly Option[] = ['scope', 'table'];
const WORK: readonly Option[] = ['app', 'limit', 'concurrency'];

/** What the arguments of each command are called, and its options. */
const COMMANDS = {
  doubts: { wanted: [], options: [...PLACE, 'json'] },
  show: { wanted: ['reference'], options: [...PLACE, 'json'] },
  settle: { wanted: ['reference', 'paymentId or not_created'], options: [...PLACE, 'json', 'despite'] },
  drain: { wanted: [], options: [...PLACE, ...WORK, 'follow'] },
  sweep: { wanted: [], options: [...WORK, 'older-than', 'give-up-after'] },
} satisfies Record<string, { wanted: string[]; options: Option[] }>;

type Name = keyof typeof COMMANDS;

/** @throws {UsageError} */
export function readCommand(args: string[]): Command {
  const { values, positionals } = parse(args, OPTIONS);
  const [first = '', ...rest] = positionals;
  if (values.version) return { name: 'version' };
  if (values.help || first === 'help') return { name: 'help' };
  const names = Object.keys(COMMANDS) as Name[];
  const name = names.find(command => first === command);
  if (!name) throw unknown('command', first, [...names, 'help']);
  const { wanted, options } = COMMANDS[name] as { wanted: string[]; options: Option[] };
  for (const [index, what] of wanted.entries()) {
    if (!rest[index]) throw new UsageError(`A ${what} is missing: see npx payment-gateway-sdk --help.`);
  }
  const extra = rest[wanted.length];
  if (extra !== undefined) throw new UsageError(`${JSON.stringify(extra)} is one argument too many: see --help.`);
  for (const option of Object.keys(values) as Option[]) {
    if (!options.includes(option)) throw misplaced(option, name, names);
  }

  const { json = false, scope, table, app, limit, concurrency, follow = false, despite = [] } = values;
  const place = { scope, table };
  const [reference, resolution] = rest as [string, string];
  const most = { limit: countOf('limit', limit), concurrency: countOf('concurrency', concurrency) };
  switch (name) {
    case 'doubts':
      return { name, json, place };
    case 'show':
      return { name, json, place, reference };
    case 'settle': {
      if (resolution !== 'not_created' && !isPaymentId(resolution)) throw new UsageError(notAPayment(resolution));
      const given = despite.flatMap(listed => listed.split(',').map(difference));
      return { name, json, place, reference, resolution, despite: given };
    }
    case 'drain':
      for (const option of PLACE) if (app && values[option] !== undefined) throw ofTheApp(option);
      return { name, place, app, options: { ...most, follow } };
    case 'sweep': {
      const olderThan = numberOf('older-than', values['older-than']);
      const giveUpAfter = numberOf('give-up-after', values['give-up-after']);
      return { name, app, options: { ...most, olderThan, giveUpAfter } };
    }
  }
}

const notAPayment = (given: string): string =>
  `${JSON.stringify(given)} is no id of a payment: pass the UUID that the gateway's support has named, or not_created.`;

/** What would be ignored. */
const ofTheApp = (option: Option): UsageError =>
  new UsageError(`--${option} is for a drain without --app: the journal of an app has its own.`);

function misplaced(option: Option, name: Name, names: readonly Name[]): UsageError {
  const others = names.filter(other => (COMMANDS[other].options as Option[]).includes(option));
  return new UsageError(`--${option} is for ${others.join(' and ')}, not for ${name}.`);
}

function numberOf(option: Option, given: string | undefined): number | undefined {
  if (given === undefined || /^\d+$/.test(given)) return given === undefined ? undefined : Number(given);
  throw new UsageError(`--${option} must be a whole number.`);
}

function countOf(option: Option, given: string | undefined): number | undefined {
  const count = numberOf(option, given);
  if (count === 0) throw new UsageError(`--${option} must be 1 or more.`);
  return count;
}

function difference(given: string): Difference {
  const name = given.trim();
  const found = DIFFERENCES.find(known => known === name);
  if (found) return found;
  throw unknown('difference', name, DIFFERENCES);
}
