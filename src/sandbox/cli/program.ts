// Defines the commands of the sandbox: npx payment-gateway-sandbox.
import { once } from 'node:events';
import type { Command } from 'commander';
import { GatewayError } from '../../errors.ts';
import { unknownNames } from '../../schemas/hints.ts';
import { CommandError, complain, createProgram, FAILED, integer, runProgram } from '../../terminal/program.ts';
import { SandboxError } from '../sandbox-error.ts';
import { sandboxFields } from '../sandbox-options.ts';
import { SCENARIOS, scenarioOf } from '../scenarios/library.ts';
import { place, REMOTE_COMMANDS, scenarioTable } from './commands.ts';
import { logs } from './logs.ts';
import { optionOf } from './options.ts';
import { DEFAULT_PORT } from './remote.ts';
import { type ServeOptions, serve } from './serve.ts';
import { moves } from './values.ts';

const NAME = 'payment-gateway-sandbox';

const MORE = `
Without a command it serves: see "help serve".
A <time> is 500ms, 5s, 2m, 1h or 7d. A <payment> is an id or a reference.

Exit codes:
  0  good
  1  not as expected, or not in time
  2  not understood, refused, no sandbox there, or no server for a scenario of faults`;

/** @returns the exit code */
export const run = (args: string[]) => runProgram(sandboxProgram(), args, explain);

function explain(error: unknown): CommandError {
  if (error instanceof GatewayError || error instanceof SandboxError)
    return new CommandError(error.message, FAILED, error.code);
  throw error;
}

export function sandboxProgram() {
  const program = createProgram(NAME, 'The payment gateway, on this machine. No account, no network, no money.');
  addServe(program);
  program
    .command('scenarios [scenario]')
    .description('lists the scenarios, or prints one as a file to begin with')
    .option('--json', 'print JSON')
    .action((name: string | undefined, { json }) => {
      const scenario = name === undefined ? undefined : scenarioOf(name);
      const text = scenario?.text.trimEnd() ?? scenarioTable;
      console.log(json ? JSON.stringify(scenario ?? SCENARIOS, null, 2) : text);
    });
  for (const add of REMOTE_COMMANDS) add(program);
  place(program.command('logs'))
    .description('prints the latest events, a line each')
    .option('--follow', 'continue with new ones')
    .option('--limit <count>', 'most lines of the past', integer(1, 1_000), 50)
    .action(logs);
  return program.addHelpText('after', MORE);
}

function addServe(program: Command) {
  const server = program
    .command('serve', { isDefault: true })
    .description('runs the gateway, its payment pages and its dashboard')
    .option('--port <number>', 'port that it listens on; 0 takes a free one', integer(0, 65_535), DEFAULT_PORT)
    .option('--host <address>', 'address that it listens on; 0.0.0.0 in a container (default: 127.0.0.1)')
    .option('--allow-host <name...>', 'names that callers may use besides those of loopback')
    .option('--auto <move:time>', 'move each new payment: complete:2s; repeatable', moves)
    .option('--state <file>', 'keep everything in this file, and continue from it')
    .option('--skip-verify', 'accept any certificate at --forward-to https://…')
    .option('--json', 'print a line of JSON for each event')
    .allowExcessArguments()
    .action(async (options: ServeOptions, { args: [unknown] }: Command) => {
      // Commander passes a mistyped command to the default one.
      const names = program.commands.map(command => command.name());
      if (unknown) throw new CommandError(unknownNames('command', [unknown], names));
      const { close } = await serve(options, console.log, line => complain(NAME, line));
      const stopped = new AbortController();
      await Promise.race(['SIGINT', 'SIGTERM'].map(signal => once(process, signal, stopped)));
      // The next signal ends the process.
      stopped.abort();
      await close();
    });
  // A command line has no functions and no values of a program.
  const { saved, fetch, now, onEvent, reviews, ...fields } = sandboxFields;
  for (const [name, field] of Object.entries(fields)) server.addOption(optionOf(name, field));
}
