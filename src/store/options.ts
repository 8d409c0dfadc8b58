// Reads the options of a store without zod, which would take most of a store's import time.
import { ConfigurationError } from '../errors.ts';
import { unknownNames } from '../schemas/hints.ts';
import { isJsonMap } from '../schemas/json.ts';

export type ProblemOf = (value: unknown) => string | undefined;

/** Reads each getter once. @param problems skipped for undefined @throws {ConfigurationError} naming every mistake */
export function storeOptions<Options extends object>(
  owner: string,
  options: Options,
  problems: { [Name in keyof Required<Options>]: ProblemOf },
): Options {
  const known = Object.keys(problems);
  const refuse = (list: readonly string[]) => new ConfigurationError(`${owner}: ${list.join('; ')}.`);
  if (!isJsonMap(options)) throw refuse([`takes one object of options: { ${known.slice(0, 3).join(', ')} }`]);
  const given = { ...options };
  const unknown = Object.keys(given).filter(name => !known.includes(name));
  const wrong = Object.entries<ProblemOf>(problems).flatMap(([name, problemOf]) => {
    const value = given[name as keyof Options];
    const problem = value === undefined ? undefined : problemOf(value);
    return problem ? [`${name} ${problem}`] : [];
  });
  if (unknown.length > 0) wrong.push(unknownNames('option', unknown, known));
  if (wrong.length > 0) throw refuse(wrong);
  return given;
}

export const flagProblem: ProblemOf = value => (typeof value === 'boolean' ? undefined : 'must be true or false');

export const functionProblem: ProblemOf = value => (typeof value === 'function' ? undefined : 'must be a function');

export const marginProblem: ProblemOf = value =>
  Number.isFinite(value) && (value as number) >= 0 ? undefined : 'must be milliseconds, 0 or more';
