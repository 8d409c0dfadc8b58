// Reads a command line, for every program of the package. A mistake is reported in one line, with what was meant.
import { parseArgs } from 'node:util';
import { nearest } from '../schemas/hints.ts';

/** A command line that is not understood: the program ends with exit code 2. */
export class UsageError extends Error {}

/** Options as of `parseArgs`. */
type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>;

/** Node's messages have several lines, or no full stop. */
const inOneLine = (message: string) => `${message.replaceAll('\n', ' ').replace(/\.$/, '')}.`;

/** @throws {UsageError} */
export function parse<O extends Options>(args: string[], options: O) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    const name = /Unknown option '--?([^']+)'/.exec(String(error))?.[1];
    if (!name) throw new UsageError(inOneLine((error as Error).message));
    const names = Object.keys(options).map(option => `--${option}`);
    throw unknown('option', `--${name}`, names);
  }
}

/** The error of a name that there is not. */
export function unknown(what: string, name: string, known: readonly string[]): UsageError {
  if (name === '') return new UsageError(`Which ${what}? There are: ${known.join(', ')}.`);
  const near = nearest(name, known);
  const hint = near ? `Did you mean ${near}?` : `There are: ${known.join(', ')}.`;
  return new UsageError(`No ${what} is called ${JSON.stringify(name)}. ${hint}`);
}
