// Runs an effect in one transaction with its mark: both are committed, or neither.
import { delay } from '../deadline.ts';
import {
  EffectCutOff,
  type EffectResult,
  LOCK_PAUSES,
  type LockedRows,
  type Store,
  type StoreEffect,
  type StoreRow,
} from '../store/contract.ts';
import { isOfMerchant, remembering } from '../store/thrown.ts';
import { inTime, repeated, transactionsOver } from './bounded.ts';
import { isCommitted } from './committed.ts';
import type { SqlDatabase, SqlQuery } from './database.ts';

/** The rows that an effect has locked. */
type Locked = Omit<LockedRows<unknown>, 'tx'>;

/** The statements of an effect in the SQL of one database. @typeParam Begun what identifies the mark of a running effect */
export interface EffectSql<Begun> {
  /** Runs before the transaction of an effect. */
  prepare?(query: SqlQuery, effect: StoreEffect): Promise<void>;
  /**
   * Locks the payment until the end of the transaction, and marks it as begun. Never waits for another worker with it.
   * Also locks and reads the rows of the effect's `reads`, in the order of their keys.
   */
  begin(query: SqlQuery, effect: StoreEffect): Promise<(Locked & { begun: Begun }) | 'busy' | 'uncertain'>;
  /**
   * Writes the rows, and the payment's as ended.
   *
   * @returns false in another transaction than the one that began
   * @throws {PaymentTaken}
   * @throws `rowChanged()` if another row has a different revision
   */
  complete(query: SqlQuery, begun: Begun, rows: readonly StoreRow[]): Promise<boolean>;
  /** Checks whether the mark's transaction has ended, which may have left a part of the effect. */
  isEnded(query: SqlQuery, begun: Begun): Promise<boolean>;
  /** Reads the committed mark, outside any transaction. `undefined`: the effect was rolled back. */
  find(query: SqlQuery, begun: Begun): Promise<'done' | 'begun' | undefined>;
  /** Writes a mark that may have been lost, as begun. Runs outside any transaction. */
  markUncertain(query: SqlQuery, effect: StoreEffect, begun: Begun): Promise<void>;
}

/**
 * @param alone runs a statement outside any transaction
 * @param advise throws the database's error with its cause and the fix
 */
export function effectsOver<Tx, Begun>(
  db: SqlDatabase<Tx>,
  sql: EffectSql<Begun>,
  alone: SqlQuery,
  advise: (error: unknown) => never,
): Store<Tx>['effect'] {
  const transact = transactionsOver(db);
  return async (effect, work) => {
    const query = inTime(alone);
    const end = await repeated(async () => {
      await sql.prepare?.(query, effect);
      const running = transact((tx, within) =>
        takeEffect(within, sql, effect, locked => remembering(() => work({ tx, ...locked }))),
      );
      return running.catch((error): End<Begun> | Ended => {
        if (error === SKIPPED) return { result: 'skipped' };
        if (error instanceof Ended) return error;
        // It may concern one of the merchant's own tables.
        if (isOfMerchant(error)) throw error;
        return advise(error);
      });
    });
    if (end instanceof Ended) {
      // Later statements were committed, and perhaps the mark was not. This failure must not repeat the effect.
      await sql.markUncertain(query, effect, end.begun as Begun);
      throw endedBefore(end.cause);
    }
    if (end.result === 'done' && !isCommitted(end)) await expectDone(sql, query, end.begun);
    return end.result;
  };
}

/** How an effect's transaction ended. */
type End<Begun> = { result: Exclude<EffectResult, 'done'> } | { result: 'done'; begun: Begun };

/** Thrown to roll back an effect that wrote nothing. */
const SKIPPED = new Error('The effect was skipped.');

/** @throws {Ended} if the transaction has ended, even if another one has begun */
async function takeEffect<Begun>(
  query: SqlQuery,
  sql: EffectSql<Begun>,
  effect: StoreEffect,
  work: (locked: Locked) => Promise<readonly StoreRow[] | undefined>,
): Promise<End<Begun>> {
  // Before the work, so that a COMMIT of the effect also commits the mark.
  const marked = await beginWithRetries(() => sql.begin(query, effect));
  if (typeof marked === 'string') return { result: marked };
  const { begun, ...locked } = marked;
  let isComplete: boolean;
  try {
    const written = await work(locked);
    if (!written) throw SKIPPED;
    isComplete = await sql.complete(query, begun, written);
  } catch (error) {
    throw error !== SKIPPED && (await sql.isEnded(query, begun)) ? new Ended(begun, error) : error;
  }
  if (!isComplete) throw new Ended(begun);
  return { result: 'done', begun };
}

/** Waits shortly while a worker of another process has the payment. */
async function beginWithRetries<Marked>(begin: () => Promise<Marked | 'busy'>): Promise<Marked | 'busy'> {
  for (const pause of LOCK_PAUSES) {
    const marked = await begin();
    if (marked !== 'busy') return marked;
    await delay(pause);
  }
  return begin();
}

/** A library can report a commit after a rollback. Only the mark shows the commit of the effect. */
async function expectDone<Begun>(sql: EffectSql<Begun>, query: SqlQuery, begun: Begun): Promise<void> {
  const found = await sql.find(query, begun);
  if (found === 'done') return;
  throw found === 'begun' ? endedBefore(undefined) : new Error(NOT_COMMITTED);
}

const NOT_COMMITTED =
  'The transaction of the effect was rolled back, although the library reported a commit. The effect can run again. A query failed after your function returned: await every query.';

/** Code outside the store has ended its transaction. */
class Ended extends Error {
  readonly begun: unknown;

  constructor(begun: unknown, cause?: unknown) {
    super(undefined, { cause });
    this.begun = begun;
  }
}

const endedBefore = (cause: unknown) =>
  new EffectCutOff(
    'The transaction of the effect ended before your function returned, so the effect may be incomplete. It does not run again until you call gateway.resolveReview(paymentId, status). Leave BEGIN, COMMIT and ROLLBACK to the store.',
    cause === undefined ? undefined : { cause },
  );
