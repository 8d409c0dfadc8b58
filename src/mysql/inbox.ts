// An inbox in the merchant's own MySQL or MariaDB.
import { inboxOptions, type SqlInbox, type SqlInboxOptions, sqlInbox } from '../sql/inbox.ts';
import { databaseOf, type MysqlDatabase, type TxOf } from './database.ts';
import { inboxSql } from './inbox-sql.ts';

/** Options of `mysqlInbox`, its second argument. */
export type MysqlInboxOptions = SqlInboxOptions;

/** An inbox that hands its transaction to `onPayment`, and can create its table. */
export type MysqlInbox<Tx> = SqlInbox<Tx>;

/**
 * Makes an inbox whose effects happen exactly once if `onPayment` writes only with `tx`, in the transaction of the
 * mark. A row lock admits one worker per payment. All inboxes of a pool together use at most half of it.
 *
 * @param database your pool of `mysql2`, over MySQL 8 or MariaDB 10.6 and later, or `fromDrizzle(db)`,
 * `fromKysely(db)`, `fromKnex(knex)`, `fromPrisma(prisma)`, `fromTypeOrm(dataSource)`
 * @throws {ConfigurationError} for any other value, or an invalid table name
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
