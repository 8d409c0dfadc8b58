// Every option of the command line: what its value looks like, and how it is read.
import { PAYMENT_STATUSES } from '../../schemas/methods.ts';
import { isHttpUrl } from '../../schemas/url.ts';
import { UsageError, unknown } from '../../terminal/arguments.ts';
import { DURATION, durationOf, LONGEST_WAIT } from '../duration.ts';

/** A move that the sandbox makes by itself, so long after a payment was created. */
export interface Auto {
  move: (typeof MOVES)[number];
  ms: number;
}

const MOVES = ['complete', 'authorize', 'cancel', 'fail'] as const;

/** An option that takes a value. */
interface ValueOption<T> {
  /** What stands for it in the help. */
  value: string;
  /** Those there are, for the completion. */
  values?: readonly string[];
  isRepeated?: true;
  /** @throws {UsageError} with a message that begins after the name of the option */
  read(written: string): T;
}

interface Flag {
  short?: string;
}

export type Option = ValueOption<unknown> | Flag;

const refuse = (expected: string, written: string) =>
  new UsageError(`takes ${expected}, and not ${JSON.stringify(written)}.`);

const oneOf = <const T extends string>(values: readonly T[]): ValueOption<T> => ({
  value: values.length < 3 ? values.join('|') : '<name>',
  values,
  read: written => {
    const found = values.find(known => known === written);
    if (found) return found;
    throw refuse(values.join(' or '), written);
  },
});

const number = (least: number, most: number, value = '<number>'): ValueOption<number> => ({
  value,
  read: written => {
    const given = Number(written);
    if (/^\d+$/.test(written) && given >= least && given <= most) return given;
    const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`;
    throw refuse(`a number ${range}`, written);
  },
});

const count = number(1, Number.MAX_SAFE_INTEGER, '<count>');

const millisecondsOf = (written: string): number => {
  const ms = durationOf(written);
  if (ms !== undefined) return ms;
  throw refuse(`${DURATION}, and at most 24 days`, written);
};

const time: ValueOption<number> = { value: '<time>', read: millisecondsOf };

/** What the sandbox waits at most. */
const patience: ValueOption<number> = {
  ...time,
  read: written => {
    const ms = durationOf(written) ?? 0;
    if (ms > 0 && ms <= LONGEST_WAIT) return ms;
    throw refuse(`${DURATION}, more than 0 and at most 10m`, written);
  },
};

/** What is given is not shown: it may be a key. */
const text = (value: string): ValueOption<string> => ({
  value,
  read: written => {
    if (written !== '') return written;
    throw new UsageError('must not be empty.');
  },
});

const url: ValueOption<string> = {
  value: '<url>',
  read: written => {
    if (isHttpUrl(written)) return written;
    throw refuse('an http(s) URL', written);
  },
};

const auto = {
  value: '<move>:<time>',
  values: MOVES.map(move => `${move}:2s`),
  isRepeated: true,
  read: written => {
    const [, name, after = ''] = /^(\w+):(.+)$/.exec(written) ?? [];
    const move = MOVES.find(known => known === name);
    if (!move) throw refuse('a move and a time, such as complete:2s or fail:500ms', written);
    return { move, ms: millisecondsOf(after) };
  },
} satisfies ValueOption<Auto>;

const probability: ValueOption<number> = {
  value: '<number>',
  read: written => {
    const given = Number(written);
    if (given > 0 && given <= 1) return given;
    throw refuse('a number above 0, and at most 1', written);
  },
};

const moment: ValueOption<number> = {
  value: '<date>',
  read: written => {
    const at = Date.parse(written);
    if (!Number.isNaN(at)) return at;
    throw refuse('a date such as 2026-11-21T09:00:00Z', written);
  },
};

const flag: Flag = {};

export const OPTIONS = {
  port: number(0, 65_535),
  url,
  host: text('<address>'),
  'allow-host': { ...text('<name>'), isRepeated: true },
  'api-key': text('<key>'),
  'sign-key': text('<key>'),
  'signature-encoding': oneOf(['hex', 'base64']),
  terminal: oneOf(['standard', 'onramp']),
  payid: oneOf(['host-to-host', 'redirect']),
  shape: oneOf(['wrapped', 'unwrapped']),
  'shop-name': text('<name>'),
  'forward-to': url,
  'callback-query': oneOf(['keep', 'drop']),
  'callback-retries': {
    value: '<times>',
    read: written => written.split(',').map(one => millisecondsOf(one.trim())),
  } satisfies ValueOption<number[]>,
  latency: time,
  auto,
  state: text('<file>'),
  'max-payments': count,
  'max-deliveries': count,
  seed: text('<text>'),
  to: url,
  on: oneOf(['create', 'lookup']),
  ms: time,
  count,
  probability,
  reference: text('<reference>'),
  id: text('<id>'),
  status: oneOf(PAYMENT_STATUSES),
  search: text('<text>'),
  limit: number(1, 1_000, '<count>'),
  answered: flag,
  timeout: patience,
  follow: flag,
  force: flag,
  code: text('<code>'),
  reason: text('<text>'),
  disarm: text('<id>|all'),
  body: text('<file>'),
  advance: time,
  at: moment,
  json: flag,
  help: { short: 'h' },
  version: flag,
} satisfies Record<string, Option>;

export type OptionName = keyof typeof OPTIONS;

type ValueOf<O> = O extends { isRepeated: true; read(written: string): infer T }
  ? T[]
  : O extends { read(written: string): infer T }
    ? T
    : boolean;

/** What was given, read. */
export type Values = { [Name in OptionName]?: ValueOf<(typeof OPTIONS)[Name]> };

export const isValueOption = (option: Option): option is ValueOption<unknown> => 'read' in option;

/** @throws {UsageError} naming the option */
export function readValue(name: OptionName, written: string): unknown {
  const option: Option = OPTIONS[name];
  if (!isValueOption(option)) throw unknown('option', name, []);
  try {
    return option.read(written);
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`--${name} ${error.message}`);
    throw error;
  }
}
