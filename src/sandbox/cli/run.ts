// Runs one command line to its end, and answers the exit code: 0; 1 if a callback was not taken; 2 for what was not
// understood.
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { GatewayError } from '../../errors.ts';
import { UsageError } from '../../terminal/arguments.ts';
import { readCommand } from './arguments.ts';
import { HELP } from './help.ts';
import { arm, trigger } from './remote.ts';
import { serve } from './serve.ts';

const print = (line: string) => console.log(line);

export async function run(args: string[]): Promise<number> {
  try {
    const command = readCommand(args);
    switch (command.name) {
      case 'help':
        print(HELP);
        break;
      case 'version':
        print(createRequire(import.meta.url)('payment-gateway-sdk/package.json').version);
        break;
      case 'trigger':
        return (await trigger(command, print)) ? 0 : 1;
      case 'fault':
        await arm(command, print);
        break;
      case 'serve': {
        const { close } = await serve(command.options, print);
        await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
        await close();
      }
    }
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof GatewayError)) throw error;
    console.error(`payment-gateway-sandbox: ${error.message}`);
    return 2;
  }
}
