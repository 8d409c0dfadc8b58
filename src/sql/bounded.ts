// Bounds how the stores use a pool: half of it for inboxes, half for journals, and every wait has an end.
import { delay, withTimeout } from '../deadline.ts';
import { ConfigurationError } from '../errors.ts';
import { type Limited, limit } from '../limit.ts';
import { DEFAULT_SIZE, rowsOf, type SqlDatabase, type SqlPool, type SqlQuery, sqlCodeOf } from './database.ts';

/** Milliseconds to wait for a connection, for a statement of our own, and for the end of a transaction. */
export const LONGEST_WAIT = 5_000;

/** Milliseconds that an effect may take. */
export const LONGEST_EFFECT = 20_000;

/** Milliseconds that a single statement waits for its turn. Its caller waits five seconds. */
const LONGEST_TURN = 4_000;

/** What our stores may do at once over one pool. */
interface Limits {
  /** The merchant's code inside may need connections of its own, and statements of ours. */
  works: Limited;
  statements: Limited;
}

/** By pool, because all inboxes together, or all journals, must leave half of it. */
const LIMITS = Symbol.for('payment-gateway-sdk.pool-limits');

/** Shared by the ESM and the CommonJS copy. */
function limitsOf({ identity, max }: SqlPool): Limits {
  const shared = globalThis as { [LIMITS]?: WeakMap<object, Limits> };
  shared[LIMITS] ??= new WeakMap();
  const half = Math.max(Math.floor(max / 2), 1);
  const limits = shared[LIMITS].get(identity) ?? {
    works: limit(half, { ms: LONGEST_WAIT, error: noPlace }),
    statements: limit(half, { ms: LONGEST_TURN, error: noTurn }),
  };
  shared[LIMITS].set(identity, limits);
  return limits;
}

type Pooled = Pick<SqlDatabase<unknown>, 'pool'>;

/** A database without a pool counts as a separate one. */
const poolFor = (database: Pooled): SqlPool => database.pool ?? { identity: database, max: DEFAULT_SIZE };

/** Runs a work in a transaction. */
type Transact<Tx> = <T>(work: (tx: Tx, query: SqlQuery) => Promise<T>) => Promise<T>;

/** What a work does with the database, one after the other. */
export interface Place<Tx> {
  transact: Transact<Tx>;
  /** Outside of any transaction. */
  query: SqlQuery;
}

/**
 * Gives works a place among half of the pool's connections, and at least one. The caller gets an error in time. The place is
 * free once the library has ended the whole work, so that it holds no connection any more.
 */
export function placesOver<Tx>(database: SqlDatabase<Tx>): <T>(work: (place: Place<Tx>) => Promise<T>) => Promise<T> {
  const { works } = limitsOf(poolFor(database));
  return work =>
    new Promise((resolve, reject) => {
      const take = async () => {
        const begun: Promise<unknown>[] = [];
        const watch = <T>(promise: Promise<T>): Promise<T> => {
          begun.push(promise.catch(() => {}));
          return promise;
        };
        const working = work({
          transact: inner => withinWaits(database, watch, inner),
          query: inTime((sql, values) => watch(database.query(sql, values))),
        });
        working.then(resolve, reject);
        await working.catch(() => {});
        await Promise.all(begun);
      };
      works(take).catch(reject);
    });
}

/** Runs single statements, at most as many at once as half of the pool has connections, however long each of them hangs. */
export function turnsOver(database: Pooled): <T>(statement: () => Promise<T>) => Promise<T> {
  const { statements } = limitsOf(poolFor(database));
  return statement => statements(statement);
}

const noPlace = () =>
  new Error(
    `Half of the pool was in use for ${LONGEST_WAIT} ms by callbacks of other payments. Check the database, or increase the \`max\` of the pool (of mysql2: \`connectionLimit\`).`,
  );

const noTurn = () =>
  new Error(
    `Half of the pool was in use for ${LONGEST_TURN} ms by statements of journals. Check the database, and the locks of the table.`,
  );

const notBegun = () =>
  new Error(
    `No transaction began within ${LONGEST_WAIT} ms: increase the \`max\` of the pool (of mysql2: \`connectionLimit\`), or look whether the database answers.`,
  );

const noAnswer = () => new Error(`The database did not answer within ${LONGEST_WAIT} ms.`);

const OVER = 'The transaction of onPayment has ended: its connection broke, or onPayment or the library ended it.';

/** One transaction. Its caller gets an error in time, also where the library waits longer. */
function withinWaits<Tx, T>(
  database: SqlDatabase<Tx>,
  watch: <Value>(transaction: Promise<Value>) => Promise<Value>,
  work: (tx: Tx, query: SqlQuery) => Promise<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let isLate = false;
    let isOver = false;
    let running: Promise<T> | undefined;
    let thrown: unknown;
    let timer: NodeJS.Timeout | undefined;
    const rejectLater = (errorOf: () => unknown) => {
      timer = setTimeout(() => {
        isLate = true;
        reject(errorOf());
      }, LONGEST_WAIT);
    };

    rejectLater(notBegun);
    const limited = async (tx: Tx) => {
      const query = database.queryIn(tx);
      const whileOpen: SqlQuery = async (...statement) => {
        if (isOver) throw new Error(OVER);
        return query(...statement);
      };
      try {
        const value = await work(tx, inTime(whileOpen, reject));
        if (!isOver) rejectLater(noAnswer);
        return value;
      } catch (error) {
        thrown = error;
        if (!isOver) rejectLater(() => error);
        throw error;
      }
    };
    const begin = async () =>
      watch(
        database.transaction(async tx => {
          clearTimeout(timer);
          // The caller already has that error.
          if (isLate) throw notBegun();
          running = limited(tx);
          return beforeEnd(running, () => isOver);
        }),
      );

    const end = () => {
      isOver = true;
      clearTimeout(timer);
    };
    begin().then(
      () => {
        end();
        // It goes on where onPayment has ended the transaction, and may still write.
        if (running) running.then(resolve, reject);
        else reject(new ConfigurationError('transaction() of the SqlDatabase resolved without having run its work.'));
      },
      error => {
        end();
        reject(thrown ?? error ?? new Error('The transaction failed.'));
      },
    );
  });
}

/**
 * Settles as the work does, but never after the transaction. When a connection breaks, postgres.js rejects the transaction
 * immediately. A later write to the connection, such as its ROLLBACK, would end the process.
 */
async function beforeEnd<T>(work: Promise<T>, isOver: () => boolean): Promise<T> {
  await work.catch(() => {});
  // The same event may fail the work and the transaction.
  await new Promise(resolve => setImmediate(resolve));
  return isOver() ? new Promise(() => {}) : work;
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
