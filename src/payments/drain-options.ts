// What a drain takes, how that is checked, and what it answers.
import { argumentReader, callFields, count, flag } from '../options/reader.ts';

/** What `drain` takes. */
export interface DrainOptions {
  /**
   * How many creates are sent, at most.
   * @default 1_000, or without end if it follows
   */
  limit?: number | undefined;
  /**
   * How many at once.
   * @default 8
   */
  concurrency?: number | undefined;
  /**
   * Goes on until the signal: looks every second, and at once where the journal tells of plans. Postgres does, over `pg`,
   * postgres.js and Drizzle: it holds one connection for that.
   * @default false
   */
  follow?: boolean | undefined;
  /** Stops it: what has begun is finished, which takes the client's `timeout`, and some seconds for the journal. */
  signal?: AbortSignal | undefined;
}

/** @throws {InvalidRequestError} naming the option that is wrong or unknown */
export const readDrainOptions = argumentReader<DrainOptions>()({
  limit: count.optional(),
  concurrency: count.default(8),
  follow: flag.default(false),
  signal: callFields.signal,
});

/** What a drain did: how many planned creates, by what became of them. */
export interface Drained {
  /** The gateway has made their payments. */
  created: number;
  /** The gateway has refused the request: it is not sent again, and its reference can be planned again. */
  refused: number;
  /**
   * The gateway could not be reached, or has refused this client: still planned, for a later drain. If nothing was due, those that
   * an earlier drain has left so.
   */
  postponed: number;
  /** A payment may exist; or there is none, and the journal did not take that down in time. For its callback, or an operator. */
  inDoubt: number;
}
