// An inbox in the merchant's own database: the effect of a callback and its mark commit together, or not at all.
import { delay, withTimeout } from '../deadline.ts';
import { InvalidRequestError } from '../errors.ts';
import { decide, type Inbox, type InboxEvent, type InboxResult, LOCK_PAUSES, type Mark } from '../inbox/contract.ts';
import { isOfMerchant, ofMerchant, remembering } from '../inbox/thrown.ts';
import { storeOptions } from '../options/store-options.ts';
import { inTime, LONGEST_EFFECT, placesOver, repeated } from './bounded.ts';
import type { SqlDatabase, SqlQuery } from './database.ts';
import { tableNameProblem } from './table.ts';

/** Options of an inbox, its second argument. */
export interface SqlInboxOptions {
  /**
   * Name of the table of marks, or schema.table.
   * @default 'payment_gateway_inbox'
   */
  table?: string | undefined;
}

/** An inbox that hands its transaction to `onPayment`, and can create its table. */
export interface SqlInbox<Tx> extends Inbox<{ tx: Tx }> {
  /** Creates the table unless it exists. Safe to call at every start, by every replica. */
  migrate(): Promise<void>;
  /** Returns the SQL of `migrate`, for separate migration tools. */
  ddl(): string;
  /**
   * Settles an effect that may be incomplete (the event `effect_uncertain`) with an operator's answer. `done`: it never
   * runs again. `again`: its next callback or sweep runs it.
   *
   * @throws {InvalidRequestError} if this status of the payment is not in doubt
   */
  resolve(paymentId: string, status: string, resolution: 'done' | 'again'): Promise<void>;
}

/**
 * The statements of an inbox in the SQL of one database.
 *
 * @typeParam Lock the data of a locked payment
 * @typeParam Begun the data of a written mark
 */
export interface InboxSql<Lock, Begun> {
  migrate(database: SqlDatabase<unknown>): Promise<void>;
  ddl(): string;

  /** Runs before the transaction. */
  prepare?(query: SqlQuery, event: InboxEvent): Promise<void>;

  /**
   * Marks the transaction, so that `isEnded` recognises it.
   *
   * @throws {ConfigurationError} outside a transaction
   */
  open(query: SqlQuery): Promise<void>;
  /** Locks the payment until the end of the transaction. @returns undefined, immediately, if another worker has it */
  lock(query: SqlQuery, event: InboxEvent): Promise<Lock | undefined>;
  /** Returns the marks that are committed now, not when the transaction began. */
  marks(query: SqlQuery, event: InboxEvent, lock: Lock): Promise<readonly Mark[]>;
  /** Writes the mark as begun. */
  begin(query: SqlQuery, event: InboxEvent, lock: Lock): Promise<Begun>;
  /** Writes the mark as done. @returns false in another transaction than the one that wrote it as begun */
  complete(query: SqlQuery, event: InboxEvent, begun: Begun): Promise<boolean>;
  /** Checks whether the mark's transaction has ended, which may have left a part of the effect. */
  isEnded(query: SqlQuery): Promise<boolean>;

  /**
   * Reads the committed mark.
   *
   * @throws {ConfigurationError} if this statement itself runs in a transaction
   */
  find(query: SqlQuery, event: InboxEvent, begun: Begun): Promise<'done' | 'begun' | undefined>;
  /** Writes a mark that may have been lost, as begun. Runs outside any transaction. */
  keep(query: SqlQuery, event: InboxEvent, begun: Begun): Promise<unknown>;
  /** Settles a mark that was begun, outside any transaction. @returns whether one existed */
  resolve(query: SqlQuery, paymentId: string, status: string, resolution: 'done' | 'again'): Promise<boolean>;
  /** Returns the database's error, or one that names its cause and the fix. */
  advised(error: unknown): unknown;
}

/** @throws {ConfigurationError} naming every option that is wrong */
export function inboxOptions(owner: string, options: SqlInboxOptions): { table: string } {
  const { table = 'payment_gateway_inbox' } = storeOptions(owner, options, { table: tableNameProblem });
  return { table };
}

/** Makes an inbox. Effects happen exactly once if `onPayment` writes only with `tx`, in the transaction of the mark. */
export function sqlInbox<Tx, Lock, Begun>(db: SqlDatabase<Tx>, sql: InboxSql<Lock, Begun>): SqlInbox<Tx> {
  const inPlace = placesOver(db);
  const advise = (error: unknown): never => {
    throw sql.advised(error);
  };
  return {
    migrate: () => sql.migrate(db).catch(advise),
    ddl: () => sql.ddl(),

    run: (event, work) =>
      inPlace(async ({ transact, query }) => {
        const taken = await repeated(async () => {
          await sql.prepare?.(query, event).catch(advise);
          const inTx = (tx: Tx) => inItsTime(remembering(() => work({ tx })));
          const effect = transact((tx, within) => takeEffect(within, sql, event, () => inTx(tx)));
          return effect.catch(error => {
            if (error instanceof Ended) return error;
            // It may concern one of the merchant's own tables.
            throw isOfMerchant(error) ? error : sql.advised(error);
          });
        });
        if (taken instanceof Ended) {
          // Later statements were committed, and perhaps the mark was not. This failure must not repeat the effect.
          await repeated(() => sql.keep(query, event, taken.begun as Begun));
          throw endedBefore(taken.cause);
        }
        if (taken.answer === 'ran') await expectDone(sql, query, event, taken.begun as Begun);
        return taken.answer;
      }),

    async resolve(paymentId, status, resolution) {
      if (resolution !== 'done' && resolution !== 'again') {
        throw new InvalidRequestError([{ path: 'resolution', message: "must be 'done' or 'again'" }]);
      }
      if (await sql.resolve(inTime(db.query), paymentId, status, resolution)) return;
      const message = `${status} of this payment is not in doubt: it has no mark that was begun and not finished`;
      throw new InvalidRequestError([{ path: 'status', message }]);
    },
  };
}

/** The result of an event. */
interface EffectResult<Begun> {
  answer: InboxResult | readonly Mark[];
  /** The mark of an effect that ran. */
  begun?: Begun;
}

/**
 * Within one transaction: lock, marks, the mark as begun, the work, the mark as done.
 *
 * @throws {Ended} if the transaction has ended, even if another one has begun
 */
async function takeEffect<Lock, Begun>(
  query: SqlQuery,
  sql: InboxSql<Lock, Begun>,
  event: InboxEvent,
  work: () => Promise<unknown>,
): Promise<EffectResult<Begun>> {
  await sql.open(query);
  const lock = await lockWithRetries(() => sql.lock(query, event));
  if (lock === undefined) return { answer: 'busy' };
  const decision = decide(await sql.marks(query, event, lock), event);
  if (decision !== 'run') return { answer: decision };

  // Before the work, so that a COMMIT of the effect also commits the mark.
  const begun = await sql.begin(query, event, lock);
  let isComplete: boolean;
  try {
    await work();
    isComplete = await sql.complete(query, event, begun);
  } catch (error) {
    throw (await sql.isEnded(query)) ? new Ended(begun, error) : error;
  }
  if (!isComplete) throw new Ended(begun);
  return { answer: 'ran', begun };
}

/** Waits shortly while a worker of another process has the payment. */
async function lockWithRetries<Lock>(tryLock: () => Promise<Lock | undefined>): Promise<Lock | undefined> {
  for (const pause of [...LOCK_PAUSES, undefined]) {
    const lock = await tryLock();
    if (lock !== undefined || pause === undefined) return lock;
    await delay(pause);
  }
  return undefined;
}

/** @throws Error, as the merchant's, if the effect takes too long */
const inItsTime = (work: Promise<unknown>): Promise<unknown> =>
  withTimeout(work, LONGEST_EFFECT, () => {
    throw ofMerchant(new Error(TOO_LONG));
  });

const TOO_LONG = `onPayment took more than ${LONGEST_EFFECT} ms, so its transaction was rolled back, and the status can run again. Use tx for every query in it: a second connection never comes where the pool has only one.`;

/** A library can report a commit after a rollback. Only the mark shows the commit of the effect. */
async function expectDone<Begun>(
  sql: Pick<InboxSql<never, Begun>, 'find'>,
  query: SqlQuery,
  event: InboxEvent,
  begun: Begun,
): Promise<void> {
  const found = await sql.find(query, event, begun);
  if (found === 'done') return;
  throw found === 'begun' ? endedBefore(undefined) : new Error(NOT_COMMITTED);
}

const NOT_COMMITTED =
  'The transaction of onPayment was rolled back, although the library reported a commit. The status can run again. A query failed after onPayment returned: await every query.';

/** Code outside the inbox has ended its transaction. */
class Ended extends Error {
  readonly begun: unknown;

  constructor(begun: unknown, cause?: unknown) {
    super(undefined, { cause });
    this.begun = begun;
  }
}

const endedBefore = (cause: unknown) =>
  new Error(
    'The transaction of onPayment ended before onPayment returned, so its effect may be incomplete. The status does not run again until you call inbox.resolve(). Leave BEGIN, COMMIT and ROLLBACK to the inbox.',
    cause === undefined ? undefined : { cause },
  );
