// The frame of both programs: one line for a mistake, and exit codes.
import { createRequire } from 'node:module';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { printable } from './text.ts';

/** Exit code: a person should look at the result. */
export const LOOK = 1;
/** Exit code: the command was wrong, or something failed. */
export const FAILED = 2;

/** Ends a program, with one line on standard error unless the message is empty. */
export class CommandError extends CommanderError {
  /** @param code for programs, under `--json` */
  constructor(message: string, exitCode = FAILED, code = 'failed') {
    super(exitCode, code, message);
  }
}

export function endWith(exitCode: number) {
  if (exitCode !== 0) throw new CommandError('', exitCode);
}

export const complain = (name: string, text: string) => console.error(`${name}: ${printable(text)}`);

export function createProgram(name: string, description: string) {
  const { version } = createRequire(import.meta.url)('payment-gateway-sdk/package.json');
  return new Command(name)
    .description(description)
    .version(version, '-v, --version')
    .exitOverride(({ exitCode, message }) => {
      const [, problem = ''] = message.split(/^error: /);
      throw new CommandError(problem.replaceAll('\n', ' '), exitCode && FAILED, 'usage');
    })
    .configureOutput({
      writeOut: text => console.log(text.trimEnd()),
      writeErr: text => console.error(text.trimEnd()),
      outputError: () => {},
    });
}

/** Under `--json`, an error is JSON. @param explain turns an error into a line, or throws it. @returns the exit code */
export async function runProgram(program: Command, args: string[], explain: (error: unknown) => CommandError) {
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    const { message, exitCode, code } = error instanceof CommandError ? error : explain(error);
    if (message && args.includes('--json')) console.log(JSON.stringify({ code, message }));
    else if (message) complain(program.name(), message);
    return exitCode;
  }
}

/** Calls back when the reader of the output has left, such as `head`. */
export function onReaderGone(react: () => void) {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      react();
    });
  }
}

export const integer =
  (least: number, most = Number.MAX_SAFE_INTEGER) =>
  (written: string) => {
    const given = Number(written);
    if (/^\d+$/.test(written) && given >= least && given <= most) return given;
    const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(`Pass a whole number, ${range}.`);
  };
