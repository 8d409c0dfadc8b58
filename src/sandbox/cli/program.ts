// Defines the commands of the sandbox: npx payment-gateway-sandbox.
import { once } from 'node:events';
import { type Command, Option } from 'commander';
import { GatewayError } from '../../errors.ts';
import { hintAt } from '../../schemas/hints.ts';
import { CommandError, complain, createProgram, integer, runProgram } from '../../terminal/program.ts';
import { table } from '../../terminal/text.ts';
import { SandboxError } from '../sandbox-error.ts';
import { doesOf, LIBRARY, textOf } from '../scenarios/library.ts';
import { addRemoteCommands, place } from './commands.ts';
import { logs } from './logs.ts';
import { DEFAULT_PORT } from './remote.ts';
import { type ServeOptions, serve } from './serve.ts';
import { httpUrl, moves, nonEmpty, time, times } from './values.ts';

const NAME = 'payment-gateway-sandbox';

const MORE = `
Without a command it serves: see "help serve".
A <time> is 500ms, 5s, 2m, 1h or 7d. A <payment> is an id or a reference.

Exit codes:
  0  good
  1  not as expected, or not in time
  2  not understood, refused, no sandbox there, or no server for a story of faults`;

/** @returns the exit code */
export const run = (args: string[]): Promise<number> => runProgram(sandboxProgram(), args, explain);

function explain(error: unknown): CommandError {
  if (error instanceof GatewayError || error instanceof SandboxError) return new CommandError(error.message);
  throw error;
}

export function sandboxProgram(): Command {
  const program = createProgram(NAME, 'The payment gateway, on this machine. No account, no network, no money.');
  addServe(program);
  program
    .command('scenarios [scenario]')
    .description('lists the scenarios, or prints one as a file to begin with')
    .option('--json', 'print JSON')
    .action((name: string | undefined, { json }) => printScenarios(name, json));
  addRemoteCommands(program);
  place(program.command('logs'))
    .description('prints the latest calls and callbacks, a line each')
    .option('--follow', 'continue with new ones')
    .option('--limit <count>', 'most lines of the past', integer(1, 1_000), 50)
    .action(options => logs(options, line => console.log(line)));
  return program.addHelpText('after', MORE);
}

function addServe(program: Command): void {
  const choice = (flags: string, about: string, values: string[]) => new Option(flags, about).choices(values);
  const server = program
    .command('serve', { isDefault: true })
    .description('runs the gateway, its payment pages and its dashboard')
    .option('--port <number>', 'port that it listens on; 0 takes a free one', integer(0, 65_535), DEFAULT_PORT)
    .option('--host <address>', 'address that it listens on; 0.0.0.0 in a container (default: 127.0.0.1)', nonEmpty)
    .option('--allow-host <name...>', 'names that callers may use besides those of loopback')
    .option('--forward-to <url>', 'post every callback there', httpUrl)
    .option('--auto <move:time>', 'move each new payment: complete:2s; repeatable', moves)
    .option('--state <file>', 'keep everything in this file, and continue from it', nonEmpty)
    .option('--latency <time>', 'extra time of each call (default: 0)', time)
    .option('--callback-retries <times>', 'repeat a failed callback after 1s,5s,30s (default: never)', times)
    .option('--shop-name <name>', "the shop on the customer's page (default: Your shop)", nonEmpty)
    .addOption(choice('--callback-query <what>', "query of a callback's address (default: keep)", ['keep', 'drop']))
    .option('--api-key <key>', 'bearer key of calls (default: sandbox-api-key)', nonEmpty)
    .option('--sign-key <key>', 'key that signs creates (default: sandbox-sign-key)', nonEmpty)
    .addOption(choice('--signature-encoding <name>', 'form of the signature (default: hex)', ['hex', 'base64']))
    .addOption(choice('--terminal <kind>', 'methods that deposits may use (default: standard)', ['standard', 'onramp']))
    .addOption(
      choice('--payid <how>', 'how a PayID deposit is paid (default: host-to-host)', ['host-to-host', 'redirect']),
    )
    .addOption(choice('--shape <name>', 'form of the answers (default: wrapped)', ['wrapped', 'unwrapped']))
    .option('--seed <text>', 'the same seed gives the same ids in every run', nonEmpty)
    .option('--max-payments <count>', 'payments to keep; the oldest final ones go first (default: 10000)', integer(1))
    .option('--max-deliveries <count>', 'callback deliveries to keep (default: 20000)', integer(1))
    .option('--json', 'print a line of JSON for each event')
    .allowExcessArguments()
    .action(async (options: ServeOptions) => {
      // Commander passes a mistyped command to the default one.
      const [unknown] = server.args;
      const names = program.commands.map(command => command.name());
      if (unknown) throw new CommandError(`No command is called ${JSON.stringify(unknown)}. ${hintAt(unknown, names)}`);
      await serveUntilStopped(options);
    });
}

async function serveUntilStopped(options: ServeOptions): Promise<void> {
  const { close } = await serve(
    options,
    line => console.log(line),
    line => complain(NAME, line),
  );
  const stopped = new AbortController();
  await Promise.race(['SIGINT', 'SIGTERM'].map(signal => once(process, signal, stopped)));
  // The next signal ends the process.
  stopped.abort();
  await close();
}

/** Prints the scenarios, which are part of the program: no sandbox is needed. */
function printScenarios(name: string | undefined, json: boolean): void {
  const all = Object.entries(LIBRARY).map(([name, text]) => ({ name, does: doesOf(text), text }));
  const list = () => table(all.map(({ name, does }) => [name, does]));
  const text = name === undefined ? list() : textOf(name).trimEnd();
  const value = name === undefined ? all : all.find(one => one.name === name);
  console.log(json ? JSON.stringify(value, null, 2) : text);
}
