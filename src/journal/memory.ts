// A journal in the memory of this process, for development and tests.
import { aborted } from '../deadline.ts';
import { functionProblem, marginProblem, storeOptions } from '../options/store-options.ts';
import { warnOfForgetting } from '../telemetry/events.ts';
import type { Journal, JournalKey, JournalQuery, JournalRow } from './contract.ts';
import { scopeProblem } from './key.ts';
import { type Planning, planBy } from './plan.ts';
import { refuseSwapped } from './planned.ts';

/** The options of `memoryJournal`. */
export interface MemoryJournalOptions {
  /**
   * The scope within which references are unique: set it per terminal and never change it. In another scope every
   * reference is new and can be paid again. At most 255 bytes of UTF-8.
   * @default a hash of the client's `baseUrl`
   */
  scope?: string | undefined;
  /**
   * Milliseconds after the timeout of a create until `settle(reference, 'not_created')` is accepted.
   * @default 600_000
   */
  settleMargin?: number | undefined;
  /**
   * The clock in milliseconds since 1970, for tests.
   * @default Date.now
   */
  now?: (() => number) | undefined;
}

/** A journal without transactions: `plan` takes effect immediately and ignores `tx`. */
export interface MemoryJournal extends Journal, Planning<unknown> {}

/**
 * Returns a journal for one process, forgotten when the process ends. In production, use `postgresJournal` or
 * `mysqlJournal`: a second replica or a restart would pay a reference again.
 */
export function memoryJournal(options: MemoryJournalOptions = {}): MemoryJournal {
  const problems = { scope: scopeProblem, settleMargin: marginProblem, now: functionProblem };
  const { scope, settleMargin, now = Date.now } = storeOptions('memoryJournal', options, problems);
  warnOfForgetting('memoryJournal forgets which references were paid', 'postgresJournal or mysqlJournal');
  const rows = new Map<string, JournalRow>();
  const nameOf = ({ scope, reference }: JournalKey) => JSON.stringify([scope, reference]);
  const write = (row: JournalRow) => {
    const kept = structuredClone(row);
    rows.set(nameOf(row), kept);
    return structuredClone(kept);
  };
  const matching = ({ scope, states }: JournalQuery) =>
    [...rows.values()].filter(row => (scope ?? row.scope) === row.scope && states.includes(row.state));
  /** @param isWithin in a transaction, where the row may replace a freed one */
  const insert = (row: JournalRow, isWithin: boolean) => {
    const existing = rows.get(nameOf(row));
    const freed = isWithin && existing?.state === 'freed' ? existing : undefined;
    const at = now();
    if (existing && !freed) return { row: structuredClone(existing), isInserted: false, now: at };
    const inserted: JournalRow = {
      ...row,
      revision: (freed?.revision ?? 0) + 1,
      begunAt: at,
      ...(row.dueAt !== undefined && { dueAt: at }),
      ...(freed?.isRetry && { isRetry: true }),
    };
    return { row: write(inserted), isInserted: true, now: at };
  };
  const watchers = new Set<() => void>();
  const journal: MemoryJournal = {
    scope,
    settleMargin,
    async plan(tx, request, options) {
      refuseSwapped(tx);
      const entry = await planBy(async row => insert(row, true), scope, 'memoryJournal', request, options);
      for (const wake of watchers) wake();
      return entry;
    },
    watch(onPlanned, signal) {
      watchers.add(onPlanned);
      return aborted(signal).then(() => void watchers.delete(onPlanned));
    },
    async read(key) {
      return { row: structuredClone(rows.get(nameOf(key))), now: now() };
    },
    insert: async (row, tx) => insert(row, tx !== undefined),
    async replace(row, revision) {
      const isReplaced = rows.get(nameOf(row))?.revision === revision;
      if (isReplaced) write({ ...row, revision: revision + 1 });
      return { isReplaced, now: now() };
    },
    async list(query) {
      const listed = matching(query).sort((a, b) => a.begunAt - b.begunAt);
      return { rows: structuredClone(listed), now: now() };
    },
    async claim(query, limit, leaseMs) {
      const at = now();
      const due = matching(query)
        .filter(({ dueAt = Number.POSITIVE_INFINITY, leasedUntil = 0 }) => dueAt <= at && leasedUntil <= at)
        .filter(({ begunAt }) => begunAt <= at - (query.olderThan ?? 0))
        .sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0))
        .slice(0, limit);
      const claimed = due.map(row => write({ ...row, leasedUntil: at + leaseMs, revision: row.revision + 1 }));
      return { rows: claimed, now: at };
    },
  };
  return journal;
}
