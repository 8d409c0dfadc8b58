// Processes the due rows of a store. Leases let many processes work concurrently.
import { bounded } from './change.ts';
import type { Timed } from './contract.ts';
import type { DueCreates, JournalRow } from './creates.ts';
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
  /** How many rows are processed concurrently, and claimed at once. */
  concurrency: number;
  isOver: () => boolean;
  /** Waits while no row is due. Without it, the work ends. */
  whenIdle?: (() => Promise<void>) | undefined;
}

/**
 * Processes due rows, several at a time, until none is left or `isOver` returns true.
 *
 * @returns the number of claimed rows
 * @throws the first error of the store, after the running work has ended
 */
export async function workOnDue(
  client: ScopedJournal,
  query: DueCreates,
  { limit, concurrency, isOver, whenIdle }: WorkOptions,
  work: (claimed: Claimed) => Promise<void>,
): Promise<number> {
  let claimed = 0;
  async function* claimAll(): AsyncGenerator<Claimed> {
    while (claimed < limit && !isOver()) {
      const { rows, now } = await claim(client, query, Math.min(limit - claimed, concurrency));
      if (rows.length === 0) {
        if (!whenIdle) return;
        await whenIdle();
      }
      claimed += rows.length;
      for (const row of rows) {
        if (isOver()) await giveBack(client, row);
        else yield { row, now };
      }
    }
  }
  const due = claimAll();
  const lane = async () => {
    for (let next = await due.next(); !next.done; next = await due.next()) await work(next.value);
  };
  const ended = await Promise.allSettled(Array.from({ length: concurrency }, lane));
  const failed = ended.find(end => end.status === 'rejected');
  if (failed) throw failed.reason;
  return claimed;
}

/** Claims rows, and returns them to the store if they arrive after the timeout. */
async function claim(client: ScopedJournal, query: DueCreates, count: number): Promise<Timed<{ rows: JournalRow[] }>> {
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
