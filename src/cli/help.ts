// What --help prints. Every line fits a terminal of 80 columns, but for names that are longer.
import { DIFFERENCES } from '../schemas/matching.ts';
import { columns, WIDTH, wrap } from '../terminal/columns.ts';

const table = (entries: Readonly<Record<string, string>>): string => columns(Object.entries(entries), WIDTH);

const COMMANDS = {
  doubts: 'what is in doubt; exit code 1 if the time-out of any has passed',
  'show <reference>': 'what the journal knows of it; exit code 1 if nothing',
  'settle <reference> <paymentId>': "the gateway's support has named its payment",
  'settle <reference> not_created': 'the support has said that there is none: it can be created again',
  drain: 'for a scheduler: sends what journal.plan has written down',
  'sweep --app <file>': 'for a scheduler: processes the payments whose callbacks were lost',
};

const OPTIONS = {
  '--despite <names>': `settle a payment that differs in these: ${DIFFERENCES.join(', ')}`,
  '--json': 'print JSON; drain and sweep print lines of it in any case',
  '--app <file>':
    'drain, sweep: the module of your app that exports its gateway, its handler and, if it has one, close; without it, drain makes a client by the environment alone',
  '--follow': 'drain: go on until SIGTERM, and send what is planned as soon as it is',
  '--limit <count>': 'drain, sweep: how many at most (default: 1000)',
  '--concurrency <count>': 'drain, sweep: how many at once (default: 8)',
  '--older-than <ms>': 'sweep: leave younger payments to their callbacks (default: 60000)',
  '--give-up-after <ms>': 'sweep: look for the last time at older ones (default: 2592000000, thirty days)',
  '--scope <scope>':
    'of the journal, which a drain without --app must know (default: PAYMENT_GATEWAY_JOURNAL_SCOPE, or all for doubts, else a hash of PAYMENT_GATEWAY_URL)',
  '--table <table>': 'of the journal (default: PAYMENT_GATEWAY_JOURNAL_TABLE, or payment_gateway_journal)',
  '--version': 'print the version',
  '-h, --help': 'print this',
};

const ENVIRONMENT = {
  DATABASE_URL: "your app's database: postgres://user:password@host/name, or mysql://…",
  PAYMENT_GATEWAY_URL: "the gateway's address, as your app has it",
  PAYMENT_GATEWAY_API_KEY: 'its bearer key',
  PAYMENT_GATEWAY_SIGN_KEY: 'its sign key; doubts, and show with a scope, need none of these three',
  PAYMENT_GATEWAY_SETTLE_MARGIN: 'milliseconds, if your app gives another settleMargin to its journal',
  PAYMENT_GATEWAY_JOURNAL_KEY: 'its encryptionKey in base64, if your app gives one to its journal',
};

const EXIT_CODES =
  'Exit codes: 0 done, and nothing is left to look at; 1 a person should look: something is in doubt, unknown, refused or given up; 2 the command was not understood, or the database or the gateway failed: the next drain or sweep tries again.';

export const HELP = [
  wrap('payment-gateway-sdk: creates whose outcome is unknown, and what is to be done later.'),
  'Usage, in the folder of your app: payment-gateway-sdk <command> [options]',
  `Commands\n${table(COMMANDS)}`,
  `Options\n${table(OPTIONS)}`,
  `Environment\n${table(ENVIRONMENT)}`,
  wrap(EXIT_CODES),
].join('\n\n');
