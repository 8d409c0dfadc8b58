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

/** What a `postgresJournal` can take as its second argument. */
export interface PostgresJournalOptions extends SqlJournalOptions {
  /**
   * Whether each plan wakes the drains that follow, by NOTIFY. Commits that notify wait for each other in Postgres: turn it
   * off where very many are planned at once, and drains look every second.
   * @default true
   */
  notify?: boolean | undefined;
}

/** A journal that can create its table. @typeParam Tx what `plan` takes: your transaction */
export type PostgresJournal<Tx = PgTx> = SqlJournal<Tx>;

/**
 * At most one payment per reference, across processes and crashes.
 *
 * @param database the merchant's own pool of `pg`; or `fromDrizzle(db)` and its like, as for `postgresInbox`
 * @throws {ConfigurationError} for what is none of them, or a table name that is none
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
