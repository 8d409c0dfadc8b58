// The commands of operators and schedulers, over the merchant's journal.
import { isPaymentId } from '../schemas/id.ts';
import { DIFFERENCES } from '../schemas/matching.ts';
import type { Command as CommandOf } from '../terminal/command-line.ts';
import { count, flag, number, type Options, oneOf, text, type ValuesOf } from '../terminal/options.ts';
import type { CommandEntry, Program } from '../terminal/program.ts';
import { UsageError } from '../terminal/usage-error.ts';

const milliseconds = number(0, undefined, '<ms>');
const difference = oneOf(DIFFERENCES);

const OPTIONS = {
  scope: text('<scope>'),
  table: text('<table>'),
  despite: {
    ...difference,
    value: '<names>',
    isRepeated: true,
    read: (written: string) => written.split(',').map(name => difference.read(name.trim())),
  },
  app: text('<file>'),
  follow: flag,
  limit: count,
  concurrency: count,
  'older-than': milliseconds,
  'give-up-after': milliseconds,
  json: flag,
} satisfies Options;

/** What was given, read. */
export type Values = ValuesOf<typeof OPTIONS>;

const TABLE = 'of the journal (default: PAYMENT_GATEWAY_JOURNAL_TABLE, or payment_gateway_journal)';
const JSON_OUT = 'print JSON';

/** Where the journal is, for one reference of it. */
const PLACE = {
  scope: 'of the journal (default: PAYMENT_GATEWAY_JOURNAL_SCOPE, or a hash of PAYMENT_GATEWAY_URL)',
  table: TABLE,
  json: JSON_OUT,
} as const;

/** How much work is done. */
const WORK = { limit: 'how many at most (default: 1000)', concurrency: 'how many at once (default: 8)' } as const;

const REFERENCE = { name: 'reference' } as const;

const checkResolution = (given: string): void => {
  if (given === 'not_created' || isPaymentId(given)) return;
  throw new UsageError(
    `${JSON.stringify(given)} is no id of a payment: pass the UUID that the gateway's support has named, or not_created.`,
  );
};

const COMMANDS = {
  doubts: {
    does: 'list what is in doubt; exit code 1 if the time-out of any has passed',
    options: {
      scope: 'of the journal (default: PAYMENT_GATEWAY_JOURNAL_SCOPE, or all)',
      table: TABLE,
      json: JSON_OUT,
    },
    more: ['It needs DATABASE_URL, and nothing else of the environment.'],
  },
  show: {
    does: 'show what the journal knows of a reference; exit code 1 if nothing',
    arguments: [REFERENCE],
    options: PLACE,
    examples: ['show payout-77 --scope eu-terminal'],
  },
  settle: {
    does: "record what the gateway's support has said of a create in doubt",
    arguments: [REFERENCE, { name: 'id or not_created', check: checkResolution }],
    options: {
      despite: `settle a payment that differs in these: ${DIFFERENCES.join(', ')}; repeatable`,
      ...PLACE,
    },
    lists: [
      {
        title: 'What it has said',
        entries: {
          id: 'the UUID of its payment',
          not_created: 'that there is none: the reference can be created again',
        },
      },
    ],
    examples: [
      'settle payout-77 7b1f3c52-9a1e-4a7b-8d43-2f6f0d1c9e10',
      'settle payout-77 not_created --scope eu-terminal',
    ],
  },
  drain: {
    does: 'for a scheduler: send what journal.plan has written down',
    options: {
      app: 'a module of your app that exports its gateway and, if it has one, close; without it, drain makes a client by the environment alone',
      follow: 'go on until SIGTERM, and send what is planned as soon as it is',
      ...WORK,
      scope: 'of the journal, without --app (default: PAYMENT_GATEWAY_JOURNAL_SCOPE)',
      table: 'of the journal, without --app (default: PAYMENT_GATEWAY_JOURNAL_TABLE, or payment_gateway_journal)',
    },
    more: ['It prints lines of JSON.'],
    examples: ['drain --app dist/payments.js', 'drain --follow --scope eu-terminal'],
  },
  sweep: {
    does: 'for a scheduler: process the payments whose callbacks were lost',
    options: {
      app: 'a module of your app that exports its gateway, its handler and, if it has one, close',
      'older-than': 'leave younger payments to their callbacks (default: 60000)',
      'give-up-after': 'look for the last time at older ones (default: 2592000000, thirty days)',
      ...WORK,
    },
    more: ['It prints a line of JSON. --app is needed: payments take effect by its onPayment.'],
    examples: ['sweep --app dist/payments.js'],
  },
} as const satisfies Record<string, CommandEntry<keyof typeof OPTIONS>>;

type CommandName = keyof typeof COMMANDS;

/** One of them, with what was given to it. */
export type Command = CommandOf<CommandName, typeof OPTIONS>;

/** That of a scheduler. */
export type WorkCommand = Command & { name: 'drain' | 'sweep' };

export const SDK: Program<CommandName, typeof OPTIONS> = {
  name: 'payment-gateway-sdk',
  does: 'creates whose outcome is unknown, and what is to be done later. It runs in the folder of your app.',
  options: OPTIONS,
  commands: COMMANDS,
  lists: [
    {
      title: 'Environment',
      entries: {
        DATABASE_URL: "your app's database: postgres://user:password@host/name, or mysql://…",
        PAYMENT_GATEWAY_URL: "the gateway's address, as your app has it",
        PAYMENT_GATEWAY_API_KEY: 'its bearer key',
        PAYMENT_GATEWAY_SIGN_KEY: 'its sign key; doubts, and show with a scope, need none of these three',
        PAYMENT_GATEWAY_JOURNAL_SCOPE: 'in place of --scope',
        PAYMENT_GATEWAY_JOURNAL_TABLE: 'in place of --table',
        PAYMENT_GATEWAY_SETTLE_MARGIN: 'milliseconds, if your app gives another settleMargin to its journal',
      },
    },
  ],
  exitCodes:
    'Exit codes: 0 done, and nothing is left to look at; 1 a person should look: something is in doubt, unknown, refused or given up; 2 the command was not understood, or the database or the gateway failed: the next drain or sweep tries again.',
};
