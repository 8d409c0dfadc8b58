// The public exports of payment-gateway-sdk/postgres.

export type { DrizzleDatabase } from '../adapters/drizzle.ts';
export type { KnexDatabase } from '../adapters/knex.ts';
export type { KyselyDatabase, KyselyTransactionBuilder } from '../adapters/kysely.ts';
export type { PrismaDatabase } from '../adapters/prisma.ts';
export type { TypeOrmDataSource, TypeOrmQueryRunner } from '../adapters/typeorm.ts';
export type { PoolOptions, SqlDatabase, SqlPool, SqlQuery, SqlRow, SqlValue } from '../sql/database.ts';
export type { SqlStoreOptions } from '../sql/store.ts';
export { fromDrizzle, fromKnex, fromKysely, fromPrisma, fromTypeOrm } from './adapters.ts';
export type { PgClient, PgPool, PgTx, TxOfPool } from './pg.ts';
export { fromPostgresJs, type PostgresJs } from './postgres-js.ts';
export { type PostgresDatabase, type PostgresStoreOptions, postgresStore, type TxOf } from './store.ts';
