// Finds out what was passed where a database belongs, so that the error can name the way to pass it.
import { ConfigurationError } from '../errors.ts';

type Shape = Partial<Record<string, unknown>>;

const isFunction = (value: unknown): boolean => typeof value === 'function';

/** The libraries that have an adapter, each with what only its own things have. */
const LIBRARIES: ReadonlyArray<readonly [adapter: string, is: (given: Shape) => boolean]> = [
  ['fromPrisma', given => isFunction(given.$queryRawUnsafe)],
  ['fromDrizzle', given => isFunction(given.execute) && given.dialect !== undefined && given.session !== undefined],
  ['fromKysely', given => isFunction(given.selectFrom) && isFunction(given.executeQuery)],
  ['fromKnex', given => isFunction(given) && isFunction(given.raw)],
  ['fromPostgresJs', given => isFunction(given) && isFunction(given.unsafe)],
  ['fromTypeOrm', given => isFunction(given.createQueryRunner) || isFunction(given.getRepository)],
];

/** The adapter for what was given, if there is one. */
function adapterFor(given: unknown): string | undefined {
  if (!given || (typeof given !== 'object' && typeof given !== 'function')) return undefined;
  return LIBRARIES.find(([, is]) => is(given))?.[0];
}

/** Whether an adapter takes it. */
export const isOfLibrary = (given: unknown): boolean => adapterFor(given) !== undefined;

/**
 * For `queryIn`, which gets what the merchant has passed to `plan`.
 *
 * @param adapter that of the library whose transaction it should be
 * @param takes such a transaction, and how to get it
 */
export function noTransactionOf(adapter: string, takes: string, given: unknown): ConfigurationError {
  const other = adapterFor(given);
  const advice = other && other !== adapter ? `, and what was passed is for ${other}()` : '';
  return new ConfigurationError(`plan takes as its tx ${takes}${advice}. Nothing was planned.`);
}

/**
 * @param owner the function that was called
 * @param takes what it takes, and how to get it
 * @param given what it was called with: of another library's, the error names the adapter
 */
export function misfit(owner: string, takes: string, given: unknown): ConfigurationError {
  const adapter = adapterFor(given);
  const advice = adapter && adapter !== owner ? `. What was passed is for ${adapter}()` : '';
  return new ConfigurationError(`${owner} takes ${takes}${advice}.`);
}
