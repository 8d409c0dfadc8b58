// The public list of payment-gateway-sdk/postgres.
export { type PostgresInbox, type PostgresInboxOptions, postgresInbox } from './inbox.ts';
export { type PostgresJournal, type PostgresJournalOptions, postgresJournal } from './journal.ts';
export type { ClientOf, PgClient, PgPool } from './pool.ts';
