// What --help prints.
import { DIFFERENCES } from '../schemas/matching.ts';
import { columns } from '../terminal/columns.ts';

export const HELP = `payment-gateway-sdk: creates whose outcome is unknown, and what became of them.

Usage, in the folder of your app
${columns([
  ['payment-gateway-sdk doubts', 'what is in doubt; exit code 1 if a create is whose time-out has passed'],
  ['payment-gateway-sdk show <reference>', 'what the journal knows of it; exit code 1 if nothing'],
  ['payment-gateway-sdk settle <reference> <paymentId>', "the gateway's support has named its payment"],
  [
    'payment-gateway-sdk settle <reference> not_created',
    'the support has said that there is none: it can be created again',
  ],
])}

Options
${columns([
  ['--despite <names>', `settle a payment that differs in these, with commas between: ${DIFFERENCES.join(',')}`],
  ['--json', 'print JSON'],
  [
    '--scope <scope>',
    'of postgresJournal (default: PAYMENT_GATEWAY_JOURNAL_SCOPE, or all for doubts, else a hash of PAYMENT_GATEWAY_URL)',
  ],
  ['--table <table>', 'of postgresJournal (default: PAYMENT_GATEWAY_JOURNAL_TABLE, or payment_gateway_journal)'],
  ['--version', 'print the version'],
  ['-h, --help', 'print this'],
])}

Environment
${columns([
  ['DATABASE_URL', "your app's database: postgres://user:password@host/name"],
  ['PAYMENT_GATEWAY_URL', 'and'],
  ['PAYMENT_GATEWAY_API_KEY', 'and'],
  ['PAYMENT_GATEWAY_SIGN_KEY', 'as your app has them'],
  ['PAYMENT_GATEWAY_SETTLE_MARGIN', 'milliseconds, if your app gives another settleMargin to postgresJournal'],
])}

Exit codes: 0 good; 1 no: in doubt, not known, or refused; 2 not understood, or the database or the gateway failed.`;
