// An inbox in the merchant's own database: the effect of a callback and its mark commit together, or not at all.
import { delay } from '../deadline.ts';
import { InvalidRequestError } from '../errors.ts';
import { decide, type Inbox, type InboxEvent, type InboxResult, LOCK_PAUSES, type Mark } from '../inbox/contract.ts';
import { isOfMerchant, remembering } from '../inbox/thrown.ts';
import { storeOptions } from '../options/store-options.ts';
import { inTime, placesOver, RolledBack, repeated } from './bounded.ts';
import type { SqlDatabase, SqlQuery } from './database.ts';
import { tableNameProblem } from './table.ts';

/** What an inbox can take as its second argument. */
export interface SqlInboxOptions {
  /**
   * The table of marks, or schema.table.
   * @default 'payment_gateway_inbox'
   */
  table?: string | undefined;
}

/** An inbox that hands its transaction to `onPayment`, and can create its table. */
export interface SqlInbox<Tx> extends Inbox<{ tx: Tx }> {
  /** Creates the table unless it is there. Safe to call at every start, by every replica. */
  migrate(): Promise<void>;
  /** The SQL of `migrate`, for tools that run migrations of their own. */
  ddl(): string;
  /**
   * An operator says what became of an effect that nobody knows about (the event `effect_uncertain`): `done`, so it is
   * never run again; or `again`, so its next callback or sweep runs it.
   *
   * @throws {InvalidRequestError} if this status of the payment is not in doubt
   */
  resolve(paymentId: string, status: string, resolution: 'done' | 'again'): Promise<void>;
}

/**
 * The statements of an inbox in the SQL of one database.
 *
 * @typeParam Lock what it knows of a payment that it has locked
 * @typeParam Begun what it knows of a mark that it has written
 */
export interface InboxSql<Lock, Begun> {
  migrate(database: SqlDatabase<unknown>): Promise<void>;
  ddl(): string;

  /** Runs before the transaction, outside of any. */
  prepare?(query: SqlQuery, event: InboxEvent): Promise<void>;

  /**
   * Makes the transaction one that `isEnded` can tell from others.
   *
   * @throws {ConfigurationError} outside a transaction
   */
  open(query: SqlQuery): Promise<void>;
  /** Locks the payment until the end of the transaction. @returns at once nothing, if somebody else has */
  lock(query: SqlQuery, event: InboxEvent): Promise<Lock | undefined>;
  /** What is committed of the payment by now, not when the transaction began. */
  marks(query: SqlQuery, event: InboxEvent, lock: Lock): Promise<readonly Mark[]>;
  /** Writes the mark as begun. */
  begin(query: SqlQuery, event: InboxEvent, lock: Lock): Promise<Begun>;
  /**
   * Writes the mark as done, only in the transaction that began it.
   *
   * @param firstError the first SQL error that the work met, if that is known
   * @returns whether it is that transaction
   */
  complete(query: SqlQuery, event: InboxEvent, begun: Begun, firstError: unknown): Promise<boolean>;
  /** Whether something other than the inbox has ended its transaction. */
  isEnded(query: SqlQuery): Promise<boolean>;

  /** What became of a transaction, in a word; `committed` is as it should be. Runs outside of any. */
  outcome(query: SqlQuery, event: InboxEvent, begun: Begun): Promise<unknown>;
  /** Writes a mark as begun that may have been lost. Runs outside of any transaction. */
  keep(query: SqlQuery, event: InboxEvent, begun: Begun): Promise<unknown>;
  /** Whether there was a mark that was begun. Runs outside of any transaction. */
  resolve(query: SqlQuery, paymentId: string, status: string, resolution: 'done' | 'again'): Promise<boolean>;
  /** An error of the database, or one that names its cause and the way out. */
  advised(error: unknown): unknown;
}

/** @throws {ConfigurationError} naming every option that is wrong */
export function inboxOptions(owner: string, options: SqlInboxOptions): { table: string } {
  const { table = 'payment_gateway_inbox' } = storeOptions(owner, options, { table: tableNameProblem });
  return { table };
}

/** Exactly once, if `onPayment` writes only with `tx`: its writes and the mark are one transaction. */
export function sqlInbox<Tx, Lock, Begun>(db: SqlDatabase<Tx>, sql: InboxSql<Lock, Begun>): SqlInbox<Tx> {
  const inPlace = placesOver(db);
  const lend = db.lend ?? (async (tx, work) => void (await work(tx)));
  return {
    async migrate() {
      await sql.migrate(db).catch(error => {
        throw sql.advised(error);
      });
    },
    ddl: () => sql.ddl(),

    run: (event, work) =>
      inPlace(async ({ transact, query }) => {
        const taken = await repeated(async () => {
          await sql.prepare?.(query, event).catch(error => {
            throw sql.advised(error);
          });
          const effect = transact((tx, query) =>
            takeEffect(query, sql, event, () => lend(tx, lent => remembering(() => work({ tx: lent })))),
          );
          return effect.catch(error => {
            if (error instanceof Ended) return error;
            // It may be about a table of the merchant's own.
            throw isOfMerchant(error) ? error : sql.advised(error);
          });
        });
        if (taken instanceof Ended) {
          // What was written after the end of the transaction is committed, and perhaps the mark is not. The effect must not be
          // repeated, whatever this meets.
          await repeated(() => sql.keep(query, event, taken.begun as Begun));
          throw endedBefore(taken.cause);
        }
        const { answer, begun } = taken;
        if (answer === 'ran' && !db.checksCommit) await expectCommitted(sql, query, event, begun as Begun);
        return answer;
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

/** What became of an event. */
interface EffectResult<Begun> {
  answer: InboxResult | readonly Mark[];
  /** The mark of an effect that ran. */
  begun?: Begun;
}

/**
 * Within one transaction: lock, marks, the mark as begun, the work, the mark as done.
 *
 * @param work answers the first SQL error that it met, if that is known
 * @throws {Ended} if the transaction is another one by then, or none
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

  // First of all: whatever commits the effect commits the mark with it.
  const begun = await sql.begin(query, event, lock);
  let isComplete: boolean;
  try {
    const firstError = await work();
    isComplete = await sql.complete(query, event, begun, firstError);
  } catch (error) {
    if (error instanceof RolledBack) throw error;
    throw (await sql.isEnded(query)) ? new Ended(begun, error) : error;
  }
  if (!isComplete) throw new Ended(begun);
  return { answer: 'ran', begun };
}

/** A worker of another process may have the payment: it is waited for, for a moment. */
async function lockWithRetries<Lock>(tryLock: () => Promise<Lock | undefined>): Promise<Lock | undefined> {
  for (const pause of [...LOCK_PAUSES, undefined]) {
    const lock = await tryLock();
    if (lock !== undefined || pause === undefined) return lock;
    await delay(pause);
  }
  return undefined;
}

/** @throws Error unless the transaction is committed: some libraries do not look what COMMIT answers */
async function expectCommitted<Begun>(
  sql: Pick<InboxSql<never, Begun>, 'outcome'>,
  query: SqlQuery,
  event: InboxEvent,
  begun: Begun,
): Promise<void> {
  const outcome = await sql.outcome(query, event, begun);
  if (outcome === 'committed') return;
  throw new Error(
    `The transaction of onPayment is ${outcome ?? 'unknown'}, and not committed: a query failed that nobody waited for, or something kept it open. Await every query before onPayment returns.`,
  );
}

/** Something other than the inbox has ended its transaction. */
class Ended extends Error {
  readonly begun: unknown;

  constructor(begun: unknown, cause?: unknown) {
    super(undefined, { cause });
    this.begun = begun;
  }
}

const endedBefore = (cause: unknown) =>
  new Error(
    'Something other than the inbox ended the transaction of onPayment, so nobody knows how much of it was done: the status is not run again until you call inbox.resolve. Leave BEGIN, COMMIT and ROLLBACK to the inbox.',
    cause === undefined ? undefined : { cause },
  );
