// An inbox in the merchant's own Postgres.
import { inboxOptions, type SqlInbox, type SqlInboxOptions, sqlInbox } from '../sql/inbox.ts';
import { databaseOf, type PostgresDatabase, type TxOf } from './database.ts';
import { inboxSql } from './inbox-sql.ts';

/** What a `postgresInbox` can take as its second argument. */
export type PostgresInboxOptions = SqlInboxOptions;

/** An inbox that hands its transaction to `onPayment`, and can create its table. */
export type PostgresInbox<Tx> = SqlInbox<Tx>;

/**
 * Exactly once, if `onPayment` writes only with `tx`: its writes and the mark are one transaction. One worker per payment
 * is let in, by an advisory lock; all inboxes of a pool hold at most half of it.
 *
 * @param database the merchant's own pool of `pg`; or `fromDrizzle(db)`, `fromKysely(db)`,
 * `fromKnex(knex)`, `fromPostgresJs(sql)`, `fromPrisma(prisma)`, `fromTypeOrm(dataSource)`
 * @throws {ConfigurationError} for what is none of them, or a table name that is none
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
