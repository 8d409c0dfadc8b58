// Every option of the sandbox's commands.
import { PAYMENT_STATUSES } from '../../schemas/methods.ts';
import {
  count,
  flag,
  number,
  type Options,
  oneOf,
  refuse,
  text,
  url,
  type ValueOption,
  type ValuesOf,
} from '../../terminal/options.ts';
import { DURATION, durationOf, LONGEST_WAIT } from '../duration.ts';

/** A move that the sandbox makes by itself, so long after a payment was created. */
export interface Auto {
  move: (typeof MOVES)[number];
  ms: number;
}

const MOVES = ['complete', 'authorize', 'cancel', 'fail'] as const;

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
} satisfies Options;

export type OptionName = keyof typeof OPTIONS;

/** What was given, read. */
export type Values = ValuesOf<typeof OPTIONS>;
