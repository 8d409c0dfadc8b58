// Reads the options of a store without zod, which would take most of the time that importing a store takes.
import { LONGEST_TIMER } from '../deadline.ts';
import { ConfigurationError } from '../errors.ts';
import { unknownNames } from '../schemas/hints.ts';

/** What is wrong with the value of an option, if anything. */
export type ProblemOf = (value: unknown) => string | undefined;

/**
 * Copies a store's options once they are checked: each getter is read once.
 *
 * @param problems for each option; one that is undefined is not asked
 * @throws {ConfigurationError} naming every option that is wrong
 */
export function storeOptions<Options extends object>(
  owner: string,
  options: Options,
  problems: { [Name in keyof Required<Options>]: ProblemOf },
): Options {
  const known = Object.keys(problems);
  const refuse = (list: readonly string[]) => new ConfigurationError(`${owner}: ${list.join('; ')}.`);
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw refuse([`takes one object of options: { ${known.slice(0, 3).join(', ')} }`]);
  }
  const given = { ...options };
  const unknown = Object.keys(given).filter(name => !known.includes(name));
  const wrong = Object.entries(problems as Record<string, ProblemOf>).flatMap(([name, problemOf]) => {
    const value = given[name as never];
    const problem = value === undefined ? undefined : problemOf(value);
    return problem ? [`${name} ${problem}`] : [];
  });
  if (unknown.length > 0) wrong.push(unknownNames('option', unknown, known));
  if (wrong.length > 0) throw refuse(wrong);
  return given;
}

/** For an option that is a text. */
export const textProblem: ProblemOf = value => {
  if (typeof value !== 'string') return 'must be a string';
  return value === '' ? 'must not be empty' : undefined;
};

/** For an option that is a function. */
export const functionProblem: ProblemOf = value => (typeof value === 'function' ? undefined : 'must be a function');

/** For an option that is a switch. */
export const booleanProblem: ProblemOf = value => (typeof value === 'boolean' ? undefined : 'must be true or false');

/** For an option that is added to a moment. */
export const marginProblem: ProblemOf = value =>
  Number.isFinite(value) && (value as number) >= 0 ? undefined : 'must be milliseconds, 0 or more';

/** For an option that is a time which something may take. */
export const timeoutProblem: ProblemOf = value =>
  typeof value === 'number' && value > 0 && value <= LONGEST_TIMER
    ? undefined
    : 'must be milliseconds, more than 0 and at most 24 days';
