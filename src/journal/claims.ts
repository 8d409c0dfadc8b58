// Works off what is due in a journal: rows are leased, so that many processes can do so at once.
import { bounded } from './change.ts';
import type { DueQuery, JournalRow, Timed } from './contract.ts';
import type { ScopedJournal } from './reports.ts';

/** Milliseconds: whoever dies gives its rows to another process after that. */
const LEASE = 120_000;

/** A row that is leased, at a time of the store's own. */
export interface Claimed {
  row: JournalRow;
  now: number;
}

/** How rows are claimed, and worked on. */
export interface WorkOptions {
  /** How many, at most. */
  limit: number;
  /** How many at once. */
  concurrency: number;
  isOver: () => boolean;
  /** Claims only what can begin at once, so that others begin the rest. Without it, one statement claims some more. */
  isFair?: boolean;
  /** Waits while nothing is due, while others may still be at work. Without it, that is the end. */
  whenIdle?: (() => Promise<void>) | undefined;
}

/**
 * Works on rows that are due, a few at once, until there are none, or it is over.
 *
 * @throws the first error, once those at work have ended: a journal that fails
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

/** What comes too late to be worked on is given back. */
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

/** Gives a row back as it was. */
export async function giveBack({ journal }: ScopedJournal, row: JournalRow): Promise<void> {
  const { leasedUntil, ...rest } = row;
  // Whoever has changed it meanwhile has it.
  await bounded(journal.replace(rest, row.revision));
}

/** Works a list off, so many at a time. @throws the first error, once those at work have ended */
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
