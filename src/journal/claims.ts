// Processes the due rows of a journal. Leases let many processes work concurrently.
import { bounded } from './change.ts';
import type { DueQuery, JournalRow, Timed } from './contract.ts';
import type { ScopedJournal } from './reports.ts';

/** Milliseconds until another process takes over the rows of a dead process. */
const LEASE = 120_000;

/** A leased row, with the time of the store's clock. */
export interface Claimed {
  row: JournalRow;
  now: number;
}

/** How rows are claimed and processed. */
export interface WorkOptions {
  /** The maximum number of rows. */
  limit: number;
  /** How many rows are processed concurrently. */
  concurrency: number;
  isOver: () => boolean;
  /** Claims only rows that can start immediately, and leaves the rest to others. Otherwise one claim takes more. */
  isFair?: boolean;
  /** Waits while no row is due but other processes may still work. Without it, the work ends. */
  whenIdle?: (() => Promise<void>) | undefined;
}

/**
 * Processes due rows, several at a time, until none is left or `isOver` returns true.
 *
 * @throws the first error of the journal, after the running work has ended
 */
export async function workOnDue(
  client: ScopedJournal,
  query: DueQuery,
  { limit, concurrency, isOver, isFair = false, whenIdle }: WorkOptions,
  work: (claimed: Claimed) => Promise<void>,
): Promise<void> {
  let free = concurrency;
  let left = limit;
  async function* claimAll(): AsyncGenerator<Claimed> {
    while (left > 0 && !isOver()) {
      const { rows, now } = await claim(client, query, Math.min(left, isFair ? free : concurrency));
      if (rows.length === 0) {
        if (!whenIdle) return;
        await whenIdle();
      }
      left -= rows.length;
      for (const row of rows) {
        if (isOver()) {
          await giveBack(client, row);
        } else {
          free -= 1;
          yield { row, now };
        }
      }
    }
  }
  await inParallel(claimAll(), concurrency, async claimed => {
    try {
      await work(claimed);
    } finally {
      free += 1;
    }
  });
}

/** Claims rows, and returns them to the journal if they arrive after the timeout. */
async function claim(client: ScopedJournal, query: DueQuery, count: number): Promise<Timed<{ rows: JournalRow[] }>> {
  const claiming = client.journal.claim(query, count, LEASE);
  let isLate = false;
  const giveBackLate = async () => {
    const { rows } = await claiming;
    if (isLate) for (const row of rows) await giveBack(client, row);
  };
  giveBackLate().catch(() => {});
  try {
    return await bounded(claiming);
  } catch (error) {
    isLate = true;
    throw error;
  }
}

/** Releases the lease of a row without changing the row. */
export async function giveBack({ journal }: ScopedJournal, row: JournalRow): Promise<void> {
  const { leasedUntil, ...rest } = row;
  // If another process has changed the row meanwhile, that change wins.
  await bounded(journal.replace(rest, row.revision));
}

/** Processes a list with limited concurrency. @throws the first error, after the running work has ended */
export async function inParallel<T>(
  items: AsyncGenerator<T>,
  lanes: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const lane = async () => {
    for (;;) {
      const { done, value } = await items.next();
      if (done) return;
      await work(value);
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: lanes }, lane));
  const failed = ended.find(end => end.status === 'rejected');
  if (failed) throw failed.reason;
}
