// The commands of operators and schedulers: npx payment-gateway-sdk.
import { type Command, Option } from 'commander';
import { isGatewayError } from '../errors.ts';
import { DIFFERENCES } from '../schemas/matching.ts';
import { WAS_IT_MIGRATED } from '../sql/table.ts';
import { CommandError, createProgram, endWith, FAILED, integer, LOOK, runProgram } from '../terminal/program.ts';
import { NAME } from './print.ts';
import { inStore, listDoubts, listReviews, resolve, settle, show } from './store.ts';
import { upkeep } from './upkeep.ts';

const ABOUT = `Sends planned payouts, finds lost callbacks, and shows and settles what a person must check.
Run it in the folder of your app.`;

const ENVIRONMENT = `
Environment, except for "upkeep", which uses your app's own:
  DATABASE_URL              your app's database: postgres://… or mysql://…
  PAYMENT_GATEWAY_SCOPE     the scope of your app's store
  PAYMENT_GATEWAY_URL       the gateway's address, only for "settle"
  PAYMENT_GATEWAY_API_KEY   its bearer key, only for "settle"
  PAYMENT_GATEWAY_SIGN_KEY  its sign key, only for "settle"

Exit codes:
  0  done
  1  a person must check a doubt, a review, an unknown reference, a refused payout or a payment that upkeep gave up
  2  the command was wrong, or the database or the gateway failed`;

/** @returns the exit code */
export const run = (args: string[]): Promise<number> => runProgram(sdkProgram(), args, explain);

export function sdkProgram(): Command {
  const program = createProgram(NAME, ABOUT).addHelpText('after', ENVIRONMENT);
  program
    .command('upkeep')
    .description('sends planned payouts and processes lost callbacks, until SIGTERM; prints a line of JSON')
    .requiredOption('--app <file>', "module that exports your app's gateway, handler, and close if it has one")
    .option('--once', 'do only the due work, for a scheduler')
    .option('--limit <count>', 'most payouts, and most lookups, of one run (default with --once: 1000)', integer(1))
    .option('--concurrency <count>', 'concurrent payouts, and concurrent lookups (default: 8)', integer(1))
    .option('--older-than <ms>', 'age below which a sweep skips a payment (default: 60000)', integer(0))
    .option(
      '--give-up-after <ms>',
      'age above which sweeps skip an open payment (default: 2592000000, 30 days)',
      integer(0),
    )
    .action(async options => endWith(await upkeep(options)));
  place(program.command('doubts'))
    .description('lists creates in doubt; exit code 1 if the timeout of one has passed')
    .option('--json', 'print JSON')
    .action(async options => endWith(await inStore(options, opened => listDoubts(opened, options))));
  place(program.command('show <reference>'))
    .description("shows the store's entry of a reference; exit code 1 if it has none")
    .option('--json', 'print JSON')
    .action((reference, options) => inStore(options, opened => show(opened, reference, options)));
  place(program.command('settle <reference>'))
    .argument('<id|not_created>', 'the UUID of its payment, or not_created if none exists')
    .description("records the answer of the gateway's support about a create in doubt")
    .addOption(new Option('--despite <names...>', 'fields in which the payment may differ').choices(DIFFERENCES))
    .option('--json', 'print JSON')
    .action((reference, answer, options) => inStore(options, opened => settle(opened, reference, answer, options)));
  place(program.command('reviews'))
    .description('lists payments for review; exit code 1 if there are any')
    .option('--json', 'print JSON')
    .action(async options => endWith(await inStore(options, opened => listReviews(opened, options))));
  place(program.command('resolve <id> <status>'))
    .description('closes a review, after a person has acted on it')
    .action((id, status, options) => inStore(options, opened => resolve(opened, id, status)));
  return program;
}

/** Adds the options that locate the store. */
const place = (command: Command): Command => {
  const option = (flags: string, about: string, name: string) =>
    new Option(flags, about).env(`PAYMENT_GATEWAY_${name}`);
  return command
    .addOption(option('--scope <scope>', "the scope of your app's store", 'SCOPE').makeOptionMandatory())
    .addOption(option('--table-prefix <prefix>', 'its tablePrefix (default: payment_gateway)', 'TABLE_PREFIX'))
    .addOption(option('--settle-margin <ms>', 'its settleMargin', 'SETTLE_MARGIN').argParser(integer(0)));
};

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
  const hint =
    isMissing === undefined ? 'Check the database' : "Pass your app's --table-prefix, or run its store.migrate()";
  return new CommandError(`Failed: ${words.replace(/\.$/, '')}. ${hint}.`);
}
