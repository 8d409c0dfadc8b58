// A journal in the merchant's own MySQL or MariaDB.
import {
  journalOptions,
  journalProblems,
  type SqlJournal,
  type SqlJournalOptions,
  sqlJournal,
} from '../sql/journal.ts';
import { databaseOf, type MysqlDatabase, type OwnTxOf } from './database.ts';
import { journalSql } from './journal-sql.ts';
import type { MysqlTx } from './pool.ts';

/** Options of `mysqlJournal`, its second argument. */
export type MysqlJournalOptions = SqlJournalOptions;

/** A journal that can create its table. @typeParam Tx your transaction, as `plan` takes it */
export type MysqlJournal<Tx = MysqlTx> = SqlJournal<Tx>;

/**
 * Makes a journal, for at most one payment per reference, across processes and crashes.
 *
 * @param database your pool of `mysql2`, or `fromDrizzle(db)` and the other adapters, as for `mysqlInbox`
 * @throws {ConfigurationError} for any other value, or an invalid table name
 * @example
 * const journal = mysqlJournal(pool, { scope: 'eu-terminal' });
 * await journal.migrate();
 * const gateway = new GatewayClient({ journal });
 */
export function mysqlJournal<Database extends MysqlDatabase>(
  database: Database,
  options: MysqlJournalOptions = {},
): MysqlJournal<OwnTxOf<Database>> {
  const { table, ...given } = journalOptions('mysqlJournal', options, journalProblems);
  return sqlJournal('mysqlJournal', databaseOf('mysqlJournal', database), journalSql(table), given);
}
