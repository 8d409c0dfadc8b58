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

/** What a `mysqlJournal` can take as its second argument. */
export type MysqlJournalOptions = SqlJournalOptions;

/** A journal that can create its table. @typeParam Tx what `plan` takes: your transaction */
export type MysqlJournal<Tx = MysqlTx> = SqlJournal<Tx>;

/**
 * At most one payment per reference, across processes and crashes.
 *
 * @param database the merchant's own pool of `mysql2`; or `fromDrizzle(db)` and its like, as for `mysqlInbox`
 * @throws {ConfigurationError} for what is none of them, or a table name that is none
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
