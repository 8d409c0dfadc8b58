// The public exports of payment-gateway-sdk/mysql.

export type { DrizzleDatabase, DrizzleTransactionConfig } from '../adapters/drizzle.ts';
export type { KnexDatabase } from '../adapters/knex.ts';
export type { KyselyDatabase, KyselyTransactionBuilder } from '../adapters/kysely.ts';
export type { PrismaDatabase, PrismaOptions, PrismaTransactionOptions } from '../adapters/prisma.ts';
export type { TypeOrmDataSource, TypeOrmQueryRunner } from '../adapters/typeorm.ts';
export type { PoolOptions, SqlDatabase, SqlPool, SqlQuery, SqlRow, SqlValue } from '../sql/database.ts';
export type { SqlInbox, SqlInboxOptions } from '../sql/inbox.ts';
export type { SqlJournal, SqlJournalOptions } from '../sql/journal.ts';
export { fromDrizzle, fromKnex, fromKysely, fromPrisma, fromTypeOrm } from './adapters.ts';
export type { MysqlDatabase, OwnTxOf, TxOf } from './database.ts';
export { type MysqlInbox, type MysqlInboxOptions, mysqlInbox } from './inbox.ts';
export { type MysqlJournal, type MysqlJournalOptions, mysqlJournal } from './journal.ts';
export type { MysqlConnection, MysqlPool, MysqlPromisePool, MysqlTx, TxOfPool } from './pool.ts';
