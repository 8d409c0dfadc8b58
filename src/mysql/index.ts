// The public exports of payment-gateway-sdk/mysql.

export type { DrizzleDatabase } from '../adapters/drizzle.ts';
export type { KnexDatabase } from '../adapters/knex.ts';
export type { KyselyDatabase, KyselyTransactionBuilder } from '../adapters/kysely.ts';
export type { PrismaDatabase } from '../adapters/prisma.ts';
export type { TypeOrmDataSource, TypeOrmQueryRunner } from '../adapters/typeorm.ts';
export type { PoolOptions, SqlDatabase, SqlPool, SqlQuery, SqlRow, SqlValue } from '../sql/database.ts';
export type { SqlStoreOptions } from '../sql/store.ts';
export { fromDrizzle, fromKnex, fromKysely, fromPrisma, fromTypeOrm } from './adapters.ts';
export type { MysqlConnection, MysqlPool, MysqlPromisePool, MysqlTx, TxOfPool } from './pool.ts';
export { type MysqlDatabase, type MysqlStoreOptions, mysqlStore, type TxOf } from './store.ts';
