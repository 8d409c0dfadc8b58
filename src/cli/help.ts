// What --help prints.
import { DIFFERENCES } from '../schemas/matching.ts';
import { columns } from '../terminal/columns.ts';

export const HELP = `payment-gateway-sdk: creates whose outcome is unknown, and what became of them.

Usage, in the folder of your app
${columns([
  ['payment-gateway-sdk doubts', 'list what is in doubt; exit code 1 if a create is, and is not under way any more'],
  ['payment-gateway-sdk show <reference>', 'what the journal knows of it; exit code 1 if nothing'],
  ['payment-gateway-sdk settle <reference> <paymentId>', "the gateway's support has named its payment"],
  [
    'payment-gateway-sdk settle <reference> not_created',
    'the support has said that there is none: it can be created again',
  ],
])}

Options
${columns([
  ['--despite <names>', `settle a payment that differs: ${DIFFERENCES.join(', ')}; with a comma between them`],
  ['--json', 'print JSON'],
  ['--scope <scope>', "the journal's scope (default: PAYMENT_GATEWAY_JOURNAL_SCOPE, or a hash of the gateway's URL)"],
  ['--table <table>', "the journal's table (default: PAYMENT_GATEWAY_JOURNAL_TABLE, or payment_gateway_journal)"],
  ['--version', 'print the version'],
  ['-h, --help', 'print this'],
])}

Environment
${columns([
  ['DATABASE_URL', "your app's database: postgres://user:password@host/name"],
  ['PAYMENT_GATEWAY_URL, PAYMENT_GATEWAY_API_KEY, PAYMENT_GATEWAY_SIGN_KEY', 'as your app has them'],
  ['PAYMENT_GATEWAY_SETTLE_MARGIN', "the journal's settleMargin in milliseconds, if your app sets one"],
])}

Exit codes: 0 good; 1 no: in doubt, not known, or refused; 2 not understood, or the database or the gateway failed.`;
