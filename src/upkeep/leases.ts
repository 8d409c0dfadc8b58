// Processes the due rows of a store. Leases let many processes work concurrently.
import type { DueQuery, Store } from '../store/contract.ts';
import { type CreateRow, createOf, type ReadRow, storeRowOf } from '../store/rules/create-row.ts';
import { unleased } from '../store/rules/transitions.ts';

/** Milliseconds until another process takes over the rows of a dead process, or of a claim that was answered too late. */
const LEASE = 120_000;

interface WorkOptions {
  limit: number;
  /** Rows processed concurrently, and claimed at once. */
  concurrency: number;
  isOver: () => boolean;
}

/** Processes due rows until none is left. @returns their number @throws the first error, which ends the work of all */
export async function workOnDue(
  store: Store,
  query: Omit<DueQuery, 'kind'>,
  { limit, concurrency, isOver }: WorkOptions,
  work: (claimed: ReadRow) => Promise<void>,
): Promise<number> {
  let claimed = 0;
  async function* claimAll(): AsyncGenerator<ReadRow> {
    while (claimed < limit && !isOver()) {
      const count = Math.min(limit - claimed, concurrency);
      const { rows, now } = await store.due({ kind: 'create', ...query }, count, LEASE);
      if (rows.length === 0) return;
      claimed += rows.length;
      for (const row of rows.map(row => ({ ...createOf(row), now }))) {
        if (isOver()) await giveBack(store, row);
        else yield row;
      }
    }
  }
  const due = claimAll();
  const lane = async () => {
    // An error ends the claims of every lane. The rows that nobody has begun return after their lease.
    for await (const row of due) await work(row);
  };
  const ended = await Promise.allSettled(Array.from({ length: concurrency }, lane));
  const failed = ended.find(end => end.status === 'rejected');
  if (failed) throw failed.reason;
  return claimed;
}

/** Releases the lease of a row, unless another process has changed the row. */
export async function giveBack(store: Store, row: CreateRow): Promise<void> {
  await store.write(storeRowOf(unleased(row)));
}
