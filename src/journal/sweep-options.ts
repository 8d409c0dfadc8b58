// Defines and checks the options of a sweep.
import * as z from 'zod';
import { InvalidRequestError } from '../errors.ts';
import { argumentReader, callFields, count } from '../options/reader.ts';
import type { SweepHandler } from './sweep.ts';

/** The options of `sweep`. */
export interface SweepOptions {
  /** The handler of `createWebhookHandler`. It processes each payment as its callback would. */
  handler: SweepHandler;
  /**
   * The payments to look at, without a journal: the open ones of your own table.
   * @default what the client's journal has open
   */
  ids?: Iterable<string> | AsyncIterable<string> | undefined;
  /**
   * Minimum milliseconds since the create. Younger payments are left to their callbacks. 0 for all.
   * @default 60_000
   */
  olderThan?: number | undefined;
  /**
   * Milliseconds since the create until the last look at a payment that is not final.
   * @default 2_592_000_000, thirty days
   */
  giveUpAfter?: number | undefined;
  /**
   * Maximum number of payments.
   * @default 1_000, or all `ids`
   */
  limit?: number | undefined;
  /**
   * Number of payments processed concurrently. The handler looks up eight at a time for all sweeps together.
   * @default 8
   */
  concurrency?: number | undefined;
  /** Stops the sweep. Running work is finished or given back. */
  signal?: AbortSignal | undefined;
}

const isIterable = (given: unknown): boolean =>
  typeof given === 'object' && given !== null && (Symbol.iterator in given || Symbol.asyncIterator in given);

const milliseconds = (error: { error: string }) => z.number(error).nonnegative(error).optional();

const read = argumentReader<SweepOptions>()({
  handler: z.custom<SweepHandler>(given => typeof (given as Partial<SweepHandler> | null)?.process === 'function', {
    error: 'must be what createWebhookHandler returns',
  }),
  ids: z.custom<SweepOptions['ids']>(isIterable, { error: 'must be a list or an async iterable of ids' }).optional(),
  olderThan: milliseconds({ error: 'must be milliseconds, 0 or more' }),
  giveUpAfter: milliseconds({ error: 'must be milliseconds' }),
  limit: count.optional(),
  concurrency: count.default(8),
  signal: callFields.signal,
});

const DAY = 86_400_000;

/** @throws {InvalidRequestError} naming an option that is wrong, unknown, or meaningless without a schedule */
export function readSweepOptions(options: SweepOptions) {
  const { ids, olderThan, giveUpAfter, limit = ids ? Number.POSITIVE_INFINITY : 1_000, ...rest } = read(options);
  const limits = { ...rest, limit };
  if (!ids) return { ...limits, olderThan: olderThan ?? 60_000, giveUpAfter: giveUpAfter ?? 30 * DAY };
  const wrong = Object.entries({ olderThan, giveUpAfter }).filter(([, value]) => value !== undefined);
  if (wrong.length === 0) return { ...limits, ids };
  throw new InvalidRequestError(
    wrong.map(([name]) => ({ path: `options.${name}`, message: 'is for a sweep of the journal, without ids' })),
  );
}
