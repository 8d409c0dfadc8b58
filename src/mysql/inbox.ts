// An inbox in the merchant's own MySQL or MariaDB.
import { inboxOptions, type SqlInbox, type SqlInboxOptions, sqlInbox } from '../sql/inbox.ts';
import { databaseOf, type MysqlDatabase, type TxOf } from './database.ts';
import { inboxSql } from './inbox-sql.ts';

/** What a `mysqlInbox` can take as its second argument. */
export type MysqlInboxOptions = SqlInboxOptions;

/** An inbox that hands its transaction to `onPayment`, and can create its table. */
export type MysqlInbox<Tx> = SqlInbox<Tx>;

/**
 * Exactly once, if `onPayment` writes only with `tx`: its writes and the mark are one transaction. One worker per payment
 * is let in, by a lock on a row; all inboxes of a pool hold at most half of it.
 *
 * @param database the merchant's own pool of `mysql2`, over MySQL 8 or MariaDB 10.6 and later; or
 * `fromDrizzle(db)`, `fromKysely(db)`, `fromKnex(knex)`, `fromPrisma(prisma)`, `fromTypeOrm(dataSource)`
 * @throws {ConfigurationError} for what is none of them, or a table name that is none
 * @example
 * const inbox = mysqlInbox(pool);
 * await inbox.migrate();
 * const handler = createWebhookHandler({ gateway, inbox, onPayment: (payment, { tx }) => book(tx, payment) });
 */
export function mysqlInbox<Database extends MysqlDatabase>(
  database: Database,
  options: MysqlInboxOptions = {},
): MysqlInbox<TxOf<Database>> {
  const { table } = inboxOptions('mysqlInbox', options);
  return sqlInbox(databaseOf('mysqlInbox', database), inboxSql(table));
}
