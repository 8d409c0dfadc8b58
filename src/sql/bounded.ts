// Uses a database without starving the merchant: at most half of a pool at a time, and no wait without an end.
import { delay, withTimeout } from '../deadline.ts';
import { ConfigurationError } from '../errors.ts';
import { type Limited, limit } from '../limit.ts';
import { DEFAULT_SIZE, rowsOf, type SqlDatabase, type SqlPool, type SqlQuery, sqlCodeOf } from './database.ts';

/** Milliseconds to wait for a connection, for a statement of our own, and for the end of a transaction. */
export const LONGEST_WAIT = 5_000;

/** By pool, because the works of all our stores together must leave the merchant half of it. */
const LIMITS = Symbol.for('payment-gateway-sdk.pool-limits');

/** Shared by the ESM and the CommonJS copy. */
function limits(): WeakMap<object, Limited> {
  const shared = globalThis as { [LIMITS]?: WeakMap<object, Limited> };
  shared[LIMITS] ??= new WeakMap();
  return shared[LIMITS];
}

/** Runs a work in a transaction. */
export type Transact<Tx> = <T>(work: (tx: Tx, query: SqlQuery) => Promise<T>) => Promise<T>;

/**
 * Transactions of the database, at most as many at a time as half of its pool: a merchant's code inside may need others.
 *
 * @throws {ConfigurationError} for a pool of one connection
 */
export function bounded<Tx>(database: SqlDatabase<Tx>): Transact<Tx> {
  const { identity, max }: SqlPool = database.pool ?? { identity: database, max: DEFAULT_SIZE };
  const limited = limits().get(identity) ?? limit(halfOf(max), { ms: LONGEST_WAIT, error: noPlace });
  limits().set(identity, limited);
  return work => limited(() => withinWaits(database, work));
}

function halfOf(max: number): number {
  if (max >= 2) return Math.floor(max / 2);
  throw new ConfigurationError(
    'The pool needs `max` (of mysql2: `connectionLimit`) of 2 or more: with 1, onPayment could wait for itself for ever.',
  );
}

const noPlace = () =>
  new Error(
    `Half of the pool was in use for ${LONGEST_WAIT} ms by callbacks of other payments: increase its \`max\` (of mysql2: \`connectionLimit\`).`,
  );

const notBegun = () =>
  new Error(
    `No transaction began within ${LONGEST_WAIT} ms: increase the \`max\` of the pool (of mysql2: \`connectionLimit\`), or look whether the database answers.`,
  );

const noAnswer = () => new Error(`The database did not answer within ${LONGEST_WAIT} ms.`);

/** @param outcome of the work, which went on after the end */
const endedEarly = (outcome: Outcome<unknown>) =>
  new Error(
    'onPayment ended its transaction by itself: leave commit() and rollback() to the inbox. If it was committed, nobody knows whether all of the effect was in it: then its callbacks are reported as effect_uncertain, until you call inbox.resolve.',
    'error' in outcome ? { cause: outcome.error } : undefined,
  );

/** A work that has settled. */
type Outcome<T> = { value: T } | { error: unknown };

/** One transaction. Whoever waits for it is told in time, also where the library waits longer. */
function withinWaits<Tx, T>(database: SqlDatabase<Tx>, work: (tx: Tx, query: SqlQuery) => Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let isLate = false;
    let running: Promise<unknown> | undefined;
    let outcome: Outcome<T> | undefined;
    let timer: NodeJS.Timeout | undefined;
    const rejectLater = (errorOf: () => unknown) => {
      timer = setTimeout(() => {
        isLate = true;
        reject(errorOf());
      }, LONGEST_WAIT);
    };

    rejectLater(notBegun);
    const limited = async (tx: Tx, query: SqlQuery) => {
      try {
        const value = await work(tx, inTime(query, reject));
        outcome = { value };
        rejectLater(noAnswer);
        return value;
      } catch (error) {
        outcome = { error };
        rejectLater(() => error);
        throw error;
      }
    };
    const begin = async () =>
      database.transaction(async (tx, query) => {
        clearTimeout(timer);
        // The caller has been told that nothing happens.
        if (isLate) throw notBegun();
        const own = limited(tx, query);
        running = own;
        return own;
      });

    const settle = (failure?: unknown) => {
      clearTimeout(timer);
      if (outcome && 'error' in outcome) reject(outcome.error);
      else if (failure !== undefined) reject(failure);
      else if (outcome) resolve(outcome.value);
      else if (running) running.catch(() => {}).then(() => reject(endedEarly(outcome as Outcome<T>)));
      else reject(new ConfigurationError('transaction() of the SqlDatabase resolved without having run its work.'));
    };
    begin().then(
      () => settle(),
      error => settle(error ?? new Error('The transaction failed.')),
    );
  });
}

/**
 * Runs statements, and waits for none longer than it should; after one that was not answered it runs no others.
 *
 * @param onLate is told first
 */
export function inTime(query: SqlQuery, onLate?: (error: Error) => void): SqlQuery {
  let late: Error | undefined;
  const giveUp = () => {
    late = noAnswer();
    onLate?.(late);
    throw late;
  };
  return async (sql, values) => {
    if (late) throw late;
    return rowsOf(await withTimeout(query(sql, values), LONGEST_WAIT, giveUp));
  };
}

/**
 * What a database answers a statement that met another one at the same instant, and has undone its transaction: Postgres
 * (a serialisation failure, a deadlock), some versions of Prisma, MySQL (a deadlock, a conflict in a group at COMMIT, a row
 * that is newer than the snapshot).
 */
const MET_ANOTHER: ReadonlySet<unknown> = new Set(['40001', '40P01', 'P2034', '1213', '3101', '1020']);
export const hasMetAnother = (error: unknown): boolean => MET_ANOTHER.has(sqlCodeOf(error));
const MOST_TRIES = 10;
/** Milliseconds, more at each try. */
const PAUSE = 10;

/** The database has undone the whole transaction, and nothing was written after that. */
export class RolledBack extends Error {}

/** Runs a transaction, and again if the database has undone it because it met another one. */
export async function repeated<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await transaction();
    } catch (error) {
      if (tries === MOST_TRIES || !hasMetAnother(error)) throw error;
      await delay(Math.random() * tries * PAUSE);
    }
  }
}
