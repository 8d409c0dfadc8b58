// Runs one command line to its end, and answers the exit code: 0; 1 for what is not as expected, or not in time; 2 for what
// was not understood or is refused.
import { once } from 'node:events';
import { GatewayError } from '../../errors.ts';
import { readCommandLine } from '../../terminal/command-line.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { type Command, SANDBOX } from './commands.ts';
import { NotInTime } from './remote.ts';
import { serve } from './serve.ts';
import { work } from './work.ts';

const print = (line: string) => console.log(line);
const complain = (line: string) => console.error(`${SANDBOX.name}: ${line}`);

export async function run(args: string[]): Promise<number> {
  try {
    const command = readCommandLine(SANDBOX, args);
    if (!('prints' in command)) return await runCommand(command);
    print(command.prints);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof GatewayError || error instanceof NotInTime)) throw error;
    complain(error.message);
    return error instanceof NotInTime ? 1 : 2;
  }
}

async function runCommand({ name, args, values }: Command): Promise<number> {
  if (name !== 'serve') return work({ name, args, values }, print);
  const { close } = await serve(values, print, complain);
  const stopped = new AbortController();
  await Promise.race(['SIGINT', 'SIGTERM'].map(signal => once(process, signal, stopped)));
  // The next one ends the process at once.
  stopped.abort();
  await close();
  return 0;
}
