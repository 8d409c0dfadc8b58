// The commands of operators and schedulers: npx payment-gateway-sdk.
import { isGatewayError } from '../errors.ts';
import { CommandError, createProgram, endWith, FAILED, integer, LOOK, runProgram } from '../terminal/program.ts';
import { NAME } from './print.ts';
import { addStoreCommands } from './store.ts';
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
export const run = (args: string[]) => runProgram(sdkProgram(), args, explain);

export function sdkProgram() {
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
  addStoreCommands(program);
  return program;
}

/** Their names mean that the command was understood. */
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
