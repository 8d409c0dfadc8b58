// The public list of payment-gateway-sdk/postgres.

export type { DrizzleDatabase, DrizzleTransactionConfig } from '../adapters/drizzle.ts';
export { fromKnex, type KnexDatabase } from '../adapters/knex.ts';
export {
  fromKysely,
  type KyselyDatabase,
  type KyselyOptions,
  type KyselyTransactionBuilder,
} from '../adapters/kysely.ts';
export {
  fromPrisma,
  type PrismaDatabase,
  type PrismaOptions,
  type PrismaTransactionOptions,
} from '../adapters/prisma.ts';
export { fromTypeOrm, type TypeOrmDataSource, type TypeOrmQueryRunner } from '../adapters/typeorm.ts';
export type { SqlDatabase, SqlPool, SqlQuery, SqlRow, SqlValue } from '../sql/database.ts';
export type { SqlInbox, SqlInboxOptions } from '../sql/inbox.ts';
export type { SqlJournal, SqlJournalOptions } from '../sql/journal.ts';
export type { OwnTxOf, PostgresDatabase, TxOf } from './database.ts';
export { fromDrizzle } from './drizzle.ts';
export { type PostgresInbox, type PostgresInboxOptions, postgresInbox } from './inbox.ts';
export { type PostgresJournal, type PostgresJournalOptions, postgresJournal } from './journal.ts';
export type { ClientOf, PgClient, PgPool } from './pg.ts';
export { fromPostgresJs, type PostgresJs } from './postgres-js.ts';
