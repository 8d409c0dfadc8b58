// Only the compiler reads this file (types.test.ts): `tx` has the type of each library's own transaction.
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/mysql2';
import { drizzle as drizzleOverPg } from 'drizzle-orm/node-postgres';
import knex, { type Knex } from 'knex';
import { Kysely, MysqlDialect, PostgresDialect, type Transaction } from 'kysely';
import { createPool } from 'mysql2';
import mysql, { type PoolConnection } from 'mysql2/promise';
import { createWebhookHandler, GatewayClient, type Store } from 'payment-gateway-sdk';
import { fromDrizzle, fromKnex, fromKysely, fromTypeOrm, mysqlStore } from 'payment-gateway-sdk/mysql';
import * as overPostgres from 'payment-gateway-sdk/postgres';
import pg from 'pg';
import postgres, { type TransactionSql } from 'postgres';
import { DataSource, type EntityManager } from 'typeorm';

type IsSame<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <_IsTrue extends true>(): void => {};
/** The transaction that a function gets. */
type TxIn<Begin> = Begin extends (work: (tx: infer Tx) => never) => unknown ? Tx : never;

interface Tables {
  orders: { id: string };
}

const scope = { scope: 'eu-terminal' };
const drizzled = drizzle({ client: mysql.createPool({}) });
const overMysql = {
  promises: mysqlStore(mysql.createPool({}), scope),
  callbacks: mysqlStore(createPool({}), scope),
  drizzle: mysqlStore(fromDrizzle(drizzled), scope),
  drizzleOverCallbacks: mysqlStore(fromDrizzle(drizzle({ client: createPool({}) })), scope),
  kysely: mysqlStore(fromKysely(new Kysely<Tables>({ dialect: new MysqlDialect({ pool: createPool({}) }) })), scope),
  knex: mysqlStore(fromKnex(knex({ client: 'mysql2' })), scope),
  typeOrm: mysqlStore(fromTypeOrm(new DataSource({ type: 'mariadb' })), scope),
};
type MysqlTx<Name extends keyof typeof overMysql> = (typeof overMysql)[Name] extends Store<infer Tx> ? Tx : never;

is<IsSame<MysqlTx<'promises'>, Pick<PoolConnection, 'query'>>>();
is<IsSame<MysqlTx<'callbacks'>, Pick<PoolConnection, 'query'>>>();
is<IsSame<MysqlTx<'drizzle'>, TxIn<typeof drizzled.transaction>>>();
is<IsSame<MysqlTx<'drizzleOverCallbacks'>, MysqlTx<'drizzle'>>>();
is<IsSame<MysqlTx<'kysely'>, Transaction<Tables>>>();
is<IsSame<MysqlTx<'knex'>, Knex.Transaction>>();
is<IsSame<MysqlTx<'typeOrm'>, EntityManager>>();

const { postgresStore } = overPostgres;
const pool = new pg.Pool();
const dialect = new PostgresDialect({ pool });
const drizzledPg = drizzleOverPg({ client: pool });
const stores = {
  pg: postgresStore(pool, scope),
  drizzle: postgresStore(overPostgres.fromDrizzle(drizzledPg), scope),
  kysely: postgresStore(overPostgres.fromKysely(new Kysely<Tables>({ dialect })), scope),
  knex: postgresStore(overPostgres.fromKnex(knex({ client: 'pg' })), scope),
  postgresJs: postgresStore(overPostgres.fromPostgresJs(postgres()), scope),
  typeOrm: postgresStore(overPostgres.fromTypeOrm(new DataSource({ type: 'postgres' })), scope),
};
type PostgresTx<Name extends keyof typeof stores> = (typeof stores)[Name] extends Store<infer Tx> ? Tx : never;

is<IsSame<PostgresTx<'pg'>, Pick<pg.PoolClient, 'query'>>>();
is<IsSame<PostgresTx<'drizzle'>, TxIn<typeof drizzledPg.transaction>>>();
is<IsSame<PostgresTx<'kysely'>, Transaction<Tables>>>();
is<IsSame<PostgresTx<'knex'>, Knex.Transaction>>();
is<
  IsSame<
    PostgresTx<'postgresJs'>,
    ReturnType<typeof postgres> extends postgres.Sql<infer Types> ? TransactionSql<Types> : never
  >
>();
is<IsSame<PostgresTx<'typeOrm'>, EntityManager>>();

const gateway = new GatewayClient({ store: overMysql.drizzle });

export const handler = createWebhookHandler({
  gateway,
  onPaid: async ({ order }, { tx }) => {
    await tx.execute(sql`update orders set paid = true where id = ${order}`);
    // @ts-expect-error a query of Kysely
    tx.updateTable('orders');
  },
});

const PAYOUT = { paymentMethod: 'SEPA', amount: '120.00', currency: 'EUR', reference: 'payout-77' } as const;

export const planned = (tx: PoolConnection) => new GatewayClient({ store: overMysql.callbacks }).payOut(tx, PAYOUT);
// @ts-expect-error the database is not a transaction
export const outside = () => gateway.payOut(drizzled, PAYOUT);
