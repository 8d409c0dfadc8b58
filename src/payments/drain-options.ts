// The options of a drain, their checks, and its result.
import { argumentReader, callFields, count, flag } from '../options/reader.ts';

/** The options of `drain`. */
export interface DrainOptions {
  /**
   * The number of creates to send, at most.
   * @default 1_000, or unlimited with `follow`
   */
  limit?: number | undefined;
  /**
   * The number of concurrent creates.
   * @default 8
   */
  concurrency?: number | undefined;
  /**
   * Whether to continue until the signal. It checks for plans every second, and immediately if the journal announces
   * them. Postgres does, over `pg`, postgres.js and Drizzle, with one connection for that.
   * @default false
   */
  follow?: boolean | undefined;
  /** Stops the drain: running creates finish, within the client's `timeout` and some seconds for the journal. */
  signal?: AbortSignal | undefined;
}

/** @throws {InvalidRequestError} naming the option that is wrong or unknown */
export const readDrainOptions = argumentReader<DrainOptions>()({
  limit: count.optional(),
  concurrency: count.default(8),
  follow: flag.default(false),
  signal: callFields.signal,
});

/** The result of a drain: its planned creates, counted by result. */
export interface Drained {
  /** Plans whose payments the gateway has made. */
  created: number;
  /** Plans that the gateway has refused. They are not sent again, and their references can be planned again. */
  refused: number;
  /**
   * Plans for a later drain, because the gateway was unreachable or refused this client. If nothing was due, it counts
   * the plans that an earlier drain postponed.
   */
  postponed: number;
  /** Plans in doubt, for a callback or an operator. A payment may exist, or its absence was not recorded in time. */
  inDoubt: number;
}
