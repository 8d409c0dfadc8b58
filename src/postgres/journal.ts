// A journal in the merchant's own Postgres.
import { booleanProblem } from '../options/store-options.ts';
import {
  journalOptions,
  journalProblems,
  type SqlJournal,
  type SqlJournalOptions,
  sqlJournal,
} from '../sql/journal.ts';
import { databaseOf, type OwnTxOf, type PostgresDatabase } from './database.ts';
import { journalSql } from './journal-sql.ts';
import type { PgTx } from './pg.ts';

/** Options of `postgresJournal`, its second argument. */
export interface PostgresJournalOptions extends SqlJournalOptions {
  /**
   * Whether each plan wakes the drains with `follow`, by NOTIFY. Postgres makes commits that notify wait for each
   * other: turn it off for very many concurrent plans, and drains poll every second.
   * @default true
   */
  notify?: boolean | undefined;
}

/** A journal that can create its table. @typeParam Tx your transaction, as `plan` takes it */
export type PostgresJournal<Tx = PgTx> = SqlJournal<Tx>;

/**
 * Makes a journal, for at most one payment per reference, across processes and crashes.
 *
 * @param database your pool of `pg`, or `fromDrizzle(db)` and the other adapters, as for `postgresInbox`
 * @throws {ConfigurationError} for any other value, or an invalid table name
 * @example
 * const journal = postgresJournal(pool, { scope: 'eu-terminal' });
 * await journal.migrate();
 * const gateway = new GatewayClient({ journal });
 */
export function postgresJournal<Database extends PostgresDatabase>(
  database: Database,
  options: PostgresJournalOptions = {},
): PostgresJournal<OwnTxOf<Database>> {
  const problems = { ...journalProblems, notify: booleanProblem };
  const { table, notify = true, ...given } = journalOptions('postgresJournal', options, problems);
  return sqlJournal('postgresJournal', databaseOf('postgresJournal', database), journalSql(table, notify), given);
}
