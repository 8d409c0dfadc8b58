// The commands of operators and schedulers: npx payment-gateway-sdk.
import { type Command, Option } from 'commander';
import { isGatewayError } from '../errors.ts';
import { DIFFERENCES } from '../schemas/matching.ts';
import { WAS_IT_MIGRATED } from '../sql/table.ts';
import { CommandError, createProgram, endWith, FAILED, integer, LOOK, runProgram } from '../terminal/program.ts';
import { inJournal, listDoubts, settle, show } from './journal.ts';
import { NAME } from './print.ts';
import { work } from './work.ts';

const ABOUT = `Shows and settles creates with an unknown outcome ("in doubt"), and does work that is due.
Run it in the folder of your app.`;

const ENVIRONMENT = `
Environment:
  DATABASE_URL              your app's database: postgres://… or mysql://…
  PAYMENT_GATEWAY_URL       the gateway's address, as in your app
  PAYMENT_GATEWAY_API_KEY   its bearer key
  PAYMENT_GATEWAY_SIGN_KEY  its sign key
"doubts", and "show --scope", need only DATABASE_URL.

Exit codes:
  0  done
  1  a person should look: something is in doubt, unknown, refused or given up
  2  the command was not understood, or the database or the gateway failed`;

/** @returns the exit code */
export const run = (args: string[]): Promise<number> => runProgram(sdkProgram(), args, explain);

export function sdkProgram(): Command {
  const program = createProgram(NAME, ABOUT).addHelpText('after', ENVIRONMENT);
  place(program.command('doubts'), 'all')
    .description('lists creates in doubt; exit code 1 if the timeout of one has passed')
    .option('--json', 'print JSON')
    .action(async options => endWith(await inJournal(options, opened => listDoubts(opened, options))));
  place(program.command('show <reference>'))
    .description("shows the journal's entry of a reference; exit code 1 if it has none")
    .option('--json', 'print JSON')
    .action((reference, options) => inJournal(options, opened => show(opened, reference, options)));
  place(program.command('settle <reference>'))
    .argument('<id|not_created>', 'the UUID of its payment, or not_created: there is none')
    .description("records the answer of the gateway's support about a create in doubt")
    .addOption(new Option('--despite <names...>', 'accept that the payment differs in these').choices(DIFFERENCES))
    .option('--json', 'print JSON')
    .action((reference, answer, options) => inJournal(options, opened => settle(opened, reference, answer, options)));
  limits(place(program.command('drain'), 'required without --app'))
    .description('for a scheduler: sends the creates that journal.plan wrote; prints lines of JSON')
    .option('--app <file>', "module that exports your app's gateway, and close if it has one")
    .option('--follow', 'run until SIGTERM, and send new plans immediately')
    .action(async (options, command) => endWith(await work('drain', options, command)));
  limits(program.command('sweep'))
    .description('for a scheduler: processes payments whose callbacks were lost; prints a line of JSON')
    .requiredOption('--app <file>', "module that exports your app's gateway, handler, and close if it has one")
    .option('--older-than <ms>', 'age below which a payment still waits for its callback (default: 60000)', integer(0))
    .option('--give-up-after <ms>', 'age of the last lookup (default: 2592000000, 30 days)', integer(0))
    .action(async (options, command) => endWith(await work('sweep', options, command)));
  return program;
}

/** Adds the options that locate the journal. */
const place = (command: Command, scope = 'a hash of PAYMENT_GATEWAY_URL'): Command => {
  const option = (flags: string, about: string, name: string) =>
    new Option(flags, about).env(`PAYMENT_GATEWAY_${name}`);
  return command
    .addOption(option('--scope <scope>', `the journal's scope (default: ${scope})`, 'JOURNAL_SCOPE'))
    .addOption(option('--table <table>', 'its table (default: payment_gateway_journal)', 'JOURNAL_TABLE'))
    .addOption(option('--settle-margin <ms>', "its app's settleMargin", 'SETTLE_MARGIN').argParser(integer(0)));
};

/** Adds the options that bound a scheduler's work. */
const limits = (command: Command): Command =>
  command
    .option('--limit <count>', 'most payments of one run (default: 1000)', integer(1))
    .option('--concurrency <count>', 'payments at a time (default: 8)', integer(1));

/** Errors that answer the operator: the command was understood. */
const REFUSALS = ['InvalidRequestError', 'PaymentInDoubtError', 'PaymentNotFoundError'];

function explain(error: unknown): CommandError {
  if (isGatewayError(error)) {
    const despite = (_: string, names: string) => `--despite ${names.replace(/[',]/g, '')}`;
    const exitCode = REFUSALS.includes(error.name) ? LOOK : FAILED;
    return new CommandError(error.message.replace(/\{ despite: \[(.*)\] \}/, despite), exitCode);
  }
  if (!(error instanceof Error)) throw error;
  const [words = '', isMissing] = error.message.split(WAS_IT_MIGRATED);
  const hint = isMissing === undefined ? 'Check the database' : "Pass your app's --table, or run its journal.migrate()";
  return new CommandError(`Failed: ${words.replace(/\.$/, '')}. ${hint}.`);
}
