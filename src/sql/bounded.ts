// Bounds the stores' use of a pool: half of it for effects, half for statements, and an end for every wait.
import { delay, withTimeout } from '../deadline.ts';
import { ConfigurationError } from '../errors.ts';
import { type Limited, limit } from '../limit.ts';
import { rowsOf, type SqlDatabase, type SqlQuery, sizeOf } from './database.ts';
import { sqlCodeOf } from './errors.ts';

/** Milliseconds to wait for a connection, a statement of the SDK, or the end of a transaction. */
export const LONGEST_WAIT = 5_000;

/** Milliseconds that a statement waits for its turn. Its caller waits 5 s. */
const LONGEST_TURN = 4_000;

/**
 * By pool, because the effects of all its stores together must leave half of it. Statements have a separate limit,
 * because the merchant's code in a work may need them.
 */
const LIMITS = new WeakMap<object, Record<'works' | 'statements', Limited>>();

/** Each is half of a pool, and at least one connection. A database without a pool counts as a separate one. */
export function limitsOf(database: SqlDatabase<unknown>) {
  const { identity, max } = database.pool ?? { identity: database, max: sizeOf() };
  const half = Math.max(Math.floor(max / 2), 1);
  const limits = LIMITS.get(identity) ?? {
    works: limit(half, inUse(LONGEST_WAIT, 'effects of other payments')),
    statements: limit(half, inUse(LONGEST_TURN, 'statements of the SDK')),
  };
  LIMITS.set(identity, limits);
  return limits;
}

const inUse = (ms: number, by: string) => ({
  ms,
  error: () =>
    new Error(
      `Half of the pool was in use for ${ms} ms by ${by}. Check the database and its locks, or increase the \`max\` of the pool (of mysql2: \`connectionLimit\`).`,
    ),
});

const notBegun = () =>
  new Error(
    `No transaction began within ${LONGEST_WAIT} ms: increase the \`max\` of the pool (of mysql2: \`connectionLimit\`), or check whether the database answers.`,
  );

const NO_ANSWER = `The database did not answer within ${LONGEST_WAIT} ms.`;

const OVER = 'The transaction of the effect has ended: its connection broke, or your function or the library ended it.';

/** Limits transactions, and the waits of their callers. A place is free once the library has ended its transaction. */
export async function boundedTransaction<Tx, T>(
  database: SqlDatabase<Tx>,
  work: (tx: Tx, query: SqlQuery) => Promise<T>,
) {
  let isOver = false;
  let running: Promise<T> | undefined;
  const started = Promise.withResolvers<void>();
  const run = async (tx: Tx) => {
    if (isOver) throw notBegun();
    const query = database.queryIn(tx);
    const whileOpen = inTime(async (...statement) => {
      if (isOver) throw new Error(OVER);
      return query(...statement);
    });
    // A library that repeats its work gets the same error.
    running ??= work(tx, whileOpen);
    started.resolve();
    await running.catch(() => {});
    // If a failure ended the connection, this sets `isOver`, because a ROLLBACK of postgres.js would end the process.
    await new Promise(setImmediate);
    return isOver ? new Promise<never>(() => {}) : running;
  };
  const transaction = limitsOf(database).works(async () => {
    const ending = (async () => database.transaction(run))().finally(() => {
      isOver = true;
    });
    await withTimeout(Promise.race([started.promise, ending]), LONGEST_WAIT, () => {
      isOver = true;
      started.reject(notBegun());
    });
    return ending;
  });

  await Promise.race([started.promise, transaction]);
  if (!running) throw new ConfigurationError('transaction() of the SqlDatabase resolved without running its work.');
  let thrown: unknown;
  const worked = running.catch(error => {
    thrown = error;
  });
  const ended = worked.then(() => withTimeout(transaction, LONGEST_WAIT, NO_ANSWER));
  await Promise.race([transaction, ended]).catch(error => {
    throw thrown ?? error;
  });
  // If the transaction ended before its work, the work may still write.
  return running;
}

export const inTime =
  (query: SqlQuery): SqlQuery =>
  async (sql, values) =>
    rowsOf(await withTimeout(query(sql, values), LONGEST_WAIT, NO_ANSWER));

/** Codes of a statement whose transaction the database undid. */
const UNDONE = new Set<unknown>([
  // A serialisation failure and a deadlock in Postgres, either in Prisma, and a statement that a pooler has lost.
  ...['40001', '40P01', 'P2034', '26000', '42P05'],
  // In MySQL a deadlock, a conflict in a group at COMMIT, a row newer than the snapshot, and a full lock table.
  ...['1213', '3101', '1020', '1206'],
]);
export const isUndone = (error: unknown) => UNDONE.has(sqlCodeOf(error));
const MOST_TRIES = 10;

/** Retries a transaction that the database undid. */
export async function repeated<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await transaction();
    } catch (error) {
      if (tries === MOST_TRIES || !isUndone(error)) throw error;
      await delay(Math.random() * tries * 10);
    }
  }
}
