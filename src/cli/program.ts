// The commands of operators and schedulers: npx payment-gateway-sdk.
import { type Command, Option } from 'commander';
import { isGatewayError } from '../errors.ts';
import { DIFFERENCES } from '../schemas/records/matching.ts';
import { CommandError, createProgram, endWith, FAILED, integer, LOOK, runProgram } from '../terminal/program.ts';
import { NAME } from './print.ts';
import { listDoubts, listReviews, resolve, runInStore, type StoreCommand, settle, show } from './store.ts';
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
    .option('--give-up-after <ms>', 'age above which sweeps skip an open payment (default: 30 days)', integer(0))
    .action(async options => endWith(await upkeep(options)));
  const inStore = (usage: string, about: string, run: StoreCommand) => {
    const command = program
      .command(usage)
      .description(about)
      .addOption(placeOption('--scope <scope>', "the scope of your app's store", 'SCOPE').makeOptionMandatory())
      .addOption(placeOption('--table-prefix <prefix>', 'its tablePrefix (default: payment_gateway)', 'TABLE_PREFIX'))
      .addOption(placeOption('--settle-margin <ms>', 'its settleMargin', 'SETTLE_MARGIN').argParser(integer(0)))
      .option('--json', 'print JSON');
    return command.action(() => runInStore(command, run));
  };
  inStore('doubts', 'lists creates in doubt; exit code 1 if one is not running any more', listDoubts);
  inStore('show <reference>', "shows the store's entry of a reference; exit code 1 if it has none", show);
  inStore(
    'settle <reference> <id|not_created>',
    "records the support's answer about a create in doubt: the UUID of its payment, or not_created",
    settle,
  ).addOption(new Option('--despite <names...>', 'fields in which the payment may differ').choices(DIFFERENCES));
  inStore('reviews', 'lists payments for review; exit code 1 if there are any', listReviews);
  inStore('resolve <id> <status>', 'closes a review, after a person has acted on it', resolve);
  return program;
}

const placeOption = (flags: string, about: string, name: string) =>
  new Option(flags, about).env(`PAYMENT_GATEWAY_${name}`);

/** Errors that answer the operator: the command was understood. */
const REFUSALS = ['InvalidRequestError', 'PaymentInDoubtError', 'PaymentNotFoundError'];

function explain(error: unknown): CommandError {
  if (isGatewayError(error)) {
    const despite = (_: string, names: string) => `--despite ${names.replace(/[',]/g, '')}`;
    const exitCode = REFUSALS.includes(error.name) ? LOOK : FAILED;
    const message = error.message.replace(/\{ despite: \[(.*)\] \}/, despite);
    return new CommandError(message.replace('gateway.reviews()', `npx ${NAME} reviews`), exitCode);
  }
  if (!(error instanceof Error)) throw error;
  return new CommandError(`Failed: ${error.message.replace(/\.$/, '')}. Check the database.`);
}
