// Writes in a transaction of the merchant's own, which only they begin and end.
import { ConfigurationError } from '../errors.ts';
import { noTransaction, type SqlDatabase, type SqlQuery } from './database.ts';

/** A transaction of the merchant's, as it was when somebody began to write in it. */
export class Entered<Ticket> {
  readonly run: SqlQuery;
  readonly ticket: Ticket;
  constructor(run: SqlQuery, ticket: Ticket) {
    this.run = run;
    this.ticket = ticket;
  }
}

/** How a dialect knows a transaction of the merchant's again: by a ticket of it. */
export interface Tickets<Ticket> {
  /**
   * Asks a transaction of the merchant's for its ticket, with the first statement that it sends.
   *
   * @param isLatest whether no other plan has entered this transaction since
   * @returns nothing outside a transaction, if that is seen here
   */
  enter(query: SqlQuery, isLatest: () => boolean): Promise<Ticket | undefined>;
  /** Gives the ticket back. @returns whether the transaction is still the one that it is of */
  leave?(query: SqlQuery, ticket: Ticket): Promise<boolean>;
}

/**
 * @param advise throws the error of a statement, with what to do
 * @returns runs a work in a transaction of the merchant's, and makes sure that it was the same one, and open, from its beginning to its end
 */
export function insideTransactions<Ticket>(
  db: SqlDatabase<unknown>,
  tickets: Tickets<Ticket>,
  advise: (error: unknown) => never,
) {
  const enter = async (tx: unknown, isLatest: () => boolean): Promise<Entered<Ticket>> => {
    const within = queryIn(db, tx);
    const run: SqlQuery = (text, values) => within(text, values).catch(advise);
    const ticket = await tickets.enter(run, isLatest);
    if (ticket === undefined) throw noTransaction();
    return new Entered(run, ticket);
  };
  return async <T>(tx: unknown, work: (own: Entered<Ticket>) => Promise<T>): Promise<T> => {
    if (tx instanceof Entered) return work(tx);
    const writer = beginWriting(tx);
    try {
      const own = await enter(tx, writer.isLatest);
      const leave = async () => {
        await writer.others();
        return (await tickets.leave?.(own.run, own.ticket)) ?? true;
      };
      const value = await work(own).catch(async error => {
        await leave().catch(() => {});
        throw error;
      });
      if (await leave()) return value;
      throw new Error(NOT_AWAITED);
    } finally {
      writer.end();
    }
  };
}

/** Of each transaction those that write in it, the latest one last. */
const writers = new WeakMap<object, Promise<void>[]>();

/** A savepoint takes those with it that were set later: so of several that write at once the latest one leaves first. */
function beginWriting(tx: unknown) {
  const all = writers.get(tx as object) ?? [];
  if (tx === Object(tx)) writers.set(tx as object, all);
  let end = () => {};
  const ended = new Promise<void>(resolve => {
    end = resolve;
  });
  all.push(ended);
  return {
    isLatest: () => all.at(-1) === ended,
    /** Waits for those that came later. */
    async others() {
      for (let last = all.at(-1); last && last !== ended; last = all.at(-1)) await last;
    },
    end() {
      all.splice(all.indexOf(ended), 1);
      end();
    },
  };
}

/** Runs statements in a transaction of the merchant's. */
function queryIn(db: SqlDatabase<unknown>, tx: unknown): SqlQuery {
  if (db.queryIn) return db.queryIn(tx);
  throw new ConfigurationError('To write into your transaction, the SqlDatabase needs queryIn(tx).');
}

const NOT_AWAITED =
  'The transaction ended before the plan was written, so the plan may be in another transaction, or in none. Look by gateway.find(reference) whether it was planned, and await journal.plan before COMMIT.';
