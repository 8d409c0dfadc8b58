// An inbox in the merchant's own Postgres.
import { inboxOptions, type SqlInbox, type SqlInboxOptions, sqlInbox } from '../sql/inbox.ts';
import { databaseOf, type PostgresDatabase, type TxOf } from './database.ts';
import { inboxSql } from './inbox-sql.ts';

/** Options of `postgresInbox`, its second argument. */
export type PostgresInboxOptions = SqlInboxOptions;

/** An inbox that hands its transaction to `onPayment`, and can create its table. */
export type PostgresInbox<Tx> = SqlInbox<Tx>;

/**
 * Makes an inbox whose effects happen exactly once if `onPayment` writes only with `tx`, in the transaction of the
 * mark. An advisory lock admits one worker per payment. All inboxes of a pool together use at most half of it.
 *
 * @param database your pool of `pg`, or `fromDrizzle(db)`, `fromKysely(db)`, `fromKnex(knex)`, `fromPostgresJs(sql)`,
 * `fromPrisma(prisma)`, `fromTypeOrm(dataSource)`
 * @throws {ConfigurationError} for any other value, or an invalid table name
 * @example
 * const inbox = postgresInbox(pool);
 * await inbox.migrate();
 * const handler = createWebhookHandler({ gateway, inbox, onPayment: (payment, { tx }) => book(tx, payment) });
 */
export function postgresInbox<Database extends PostgresDatabase>(
  database: Database,
  options: PostgresInboxOptions = {},
): PostgresInbox<TxOf<Database>> {
  const { table } = inboxOptions('postgresInbox', options);
  return sqlInbox(databaseOf('postgresInbox', database), inboxSql(table));
}
