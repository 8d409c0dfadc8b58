// Runs one command line to its end, and answers the exit code: 0; 1 for what is not as expected, or not in time; 2 for what
// was not understood or is refused.
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { GatewayError } from '../../errors.ts';
import { UsageError } from '../../terminal/arguments.ts';
import { type Command, readCommand } from './arguments.ts';
import type { CommandName, SHELLS } from './commands.ts';
import { completionOf } from './completion.ts';
import { helpOf } from './help.ts';
import { LateError } from './remote.ts';
import { serve } from './serve.ts';
import { work } from './work.ts';

const print = (line: string) => console.log(line);
const complain = (line: string) => console.error(`payment-gateway-sandbox: ${line}`);

export async function run(args: string[]): Promise<number> {
  try {
    const command = readCommand(args);
    if (command === 'version') {
      print(createRequire(import.meta.url)('payment-gateway-sdk/package.json').version);
      return 0;
    }
    return await runCommand(command);
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof GatewayError || error instanceof LateError)) throw error;
    complain(error.message);
    return error instanceof LateError ? 1 : 2;
  }
}

async function runCommand(command: Command): Promise<number> {
  const { name, args, values } = command;
  switch (name) {
    case 'help':
      print(helpOf(args[0] as CommandName | undefined));
      return 0;
    case 'completion':
      print(completionOf(args[0] as (typeof SHELLS)[number]));
      return 0;
    case 'serve': {
      const { close } = await serve(values, print, complain);
      const stopped = new AbortController();
      await Promise.race(['SIGINT', 'SIGTERM'].map(signal => once(process, signal, stopped)));
      // The next one ends the process at once.
      stopped.abort();
      await close();
      return 0;
    }
    default:
      return work({ name, args, values }, print);
  }
}
