// Every library over MySQL fits its adapter by its own types, and `tx` has the type of its own transaction. It is compiled, and
// never run.
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/mysql2';
import knex, { type Knex } from 'knex';
import { Kysely, MysqlDialect, type Transaction } from 'kysely';
import { createPool } from 'mysql2';
import mysql, { type PoolConnection } from 'mysql2/promise';
import { createWebhookHandler, type GatewayClient } from 'payment-gateway-sdk';
import {
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromTypeOrm,
  type MysqlDatabase,
  mysqlInbox,
  mysqlJournal,
  type OwnTxOf,
  type TxOf,
} from 'payment-gateway-sdk/mysql';
import { DataSource, type EntityManager } from 'typeorm';

type IsSame<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <_IsTrue extends true>(): void => {};

interface Tables {
  orders: { reference: string };
}

const pool = mysql.createPool({});
const db = new Kysely<Tables>({ dialect: new MysqlDialect({ pool: createPool({}) }) });
const drizzled = drizzle({ client: pool });
const databases = {
  promises: pool,
  callbacks: createPool({}),
  drizzle: fromDrizzle(drizzled),
  drizzleOverCallbacks: fromDrizzle(drizzle({ client: createPool({}) })),
  drizzleOverUrl: fromDrizzle(drizzle('mysql://root@127.0.0.1/test')),
  kysely: fromKysely(db),
  knex: fromKnex(knex({ client: 'mysql2' })),
  typeOrm: fromTypeOrm(new DataSource({ type: 'mariadb' })),
} satisfies Record<string, MysqlDatabase>;
type TxBy<Name extends keyof typeof databases> = TxOf<(typeof databases)[Name]>;

is<IsSame<TxBy<'promises'>, Pick<PoolConnection, 'query'>>>();
is<IsSame<TxBy<'callbacks'>, Pick<PoolConnection, 'query'>>>();
is<IsSame<TxBy<'kysely'>, Transaction<Tables>>>();
is<IsSame<TxBy<'knex'>, Knex.Transaction>>();
is<IsSame<TxBy<'typeOrm'>, EntityManager>>();
is<IsSame<OwnTxOf<(typeof databases)['kysely']>, Transaction<Tables>>>();

export const handlerOf = (gateway: GatewayClient) =>
  createWebhookHandler({
    gateway,
    inbox: mysqlInbox(databases.drizzle),
    onPayment: async ({ id }, { tx }) => {
      await tx.execute(sql`update orders set paid_by = ${id}`);
      // @ts-expect-error a query of Kysely
      tx.updateTable('orders');
    },
  });

export const planWith = (tx: PoolConnection) =>
  mysqlJournal(databases.callbacks, { scope: 'eu' }).plan(tx, {
    paymentType: 'WITHDRAWAL',
    paymentMethod: 'SEPA',
    amount: '120.00',
    currency: 'EUR',
    reference: 'payout-77',
    webhookUrl: 'https://shop.example/callbacks',
  });
