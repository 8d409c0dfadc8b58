// What is told of a command line that is not understood, in one line, with what was meant.
import { hintAt } from '../schemas/hints.ts';

/** A command line that is not understood: the program ends with exit code 2. */
export class UsageError extends Error {}

/** The error of a name that there is not. */
export function unknown(what: string, name: string, known: readonly string[]): UsageError {
  if (name === '') return new UsageError(`Which ${what}? There are: ${known.join(', ')}.`);
  return new UsageError(`No ${what} is called ${JSON.stringify(name)}. ${hintAt(name, known)}`);
}
