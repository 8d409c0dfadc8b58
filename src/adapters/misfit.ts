// Finds out what was passed where a database belongs, so that the error can name the way to pass it.
import { ConfigurationError } from '../errors.ts';
import type { SqlDatabase } from '../sql/database.ts';

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
  return LIBRARIES.find(([, is]) => is(given ?? {}))?.[0];
}

/** The names of the databases, and what their stores are called. */
const DIALECTS = { postgres: ['PostgreSQL', 'postgres'], mysql: ['MySQL', 'mysql'] } as const;

/**
 * What a store was given, if it is a database; nothing, if it may be a pool.
 *
 * @param pool what to pass in its place
 * @throws {ConfigurationError} for a library without its adapter, and for a database of another dialect
 */
export function databaseIn<Tx>(
  owner: string,
  dialect: SqlDatabase<Tx>['dialect'],
  given: unknown,
  pool: string,
): SqlDatabase<Tx> | undefined {
  const shape = (given ?? {}) as Shape;
  if (isFunction(shape.transaction) && isFunction(shape.query) && typeof shape.dialect === 'string') {
    if (shape.dialect === dialect) return given as SqlDatabase<Tx>;
    const [name] = DIALECTS[dialect];
    const other = DIALECTS[shape.dialect as typeof dialect]?.[1];
    const advice = other ? `: it is for ${twin(owner, dialect, other)}` : '';
    throw misfit(owner, `a database over ${name}, and this one speaks ${shape.dialect}${advice}`, given);
  }
  const other = isFunction(shape.getConnection) ? 'mysql' : shape.idleCount === undefined ? dialect : 'postgres';
  if (other !== dialect) throw misfit(owner, `${anything(pool)}: this pool is for ${twin(owner, dialect, other)}`);
  // Several libraries have what a pool has.
  if (adapterFor(given)) throw misfit(owner, anything(pool), given);
  return undefined;
}

/** The same store in another dialect. */
const twin = (owner: string, dialect: string, other: string) =>
  `${owner.replace(dialect, other)}() of payment-gateway-sdk/${other}`;

/** What a store takes. */
export const anything = (pool: string): string =>
  `a pool, such as ${pool}, what an adapter such as fromDrizzle() makes of your library, or a SqlDatabase of your own`;

/**
 * For `queryIn`, which gets what the merchant has passed to `plan`.
 *
 * @param takes what it should be, and how to get it
 * @param adapter that of the library whose transaction that is, if there is one
 */
export function noTransactionOf(takes: string, given: unknown, adapter?: string): ConfigurationError {
  const other = adapterFor(given);
  const advice = other && other !== adapter ? `, and what was passed is for ${other}()` : '';
  return new ConfigurationError(`plan takes as its tx ${takes}${advice}. Nothing was planned.`);
}

/**
 * @param owner the function that was called
 * @param takes what it takes, and how to get it
 * @param given what it was called with: of another library's, the error names the adapter
 */
export function misfit(owner: string, takes: string, given?: unknown): ConfigurationError {
  const adapter = adapterFor(given);
  const advice = adapter && adapter !== owner ? `. What was passed is for ${adapter}()` : '';
  return new ConfigurationError(`${owner} takes ${takes}${advice}.`);
}
