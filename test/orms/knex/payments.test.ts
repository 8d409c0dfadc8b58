// Knex over `pg`, as docs/databases.md has it.
import openKnex from 'knex';
import { fromKnex, postgresStore } from 'payment-gateway-sdk/postgres';
import { proveShop } from '../shop.ts';

declare module 'knex/types/tables.js' {
  interface Tables {
    orders: { id: string; paid: boolean };
  }
}

const knex = openKnex({ client: 'pg', connection: process.env.DATABASE_URL ?? '', pool: { max: 10 } });

proveShop('Knex', {
  store: postgresStore(fromKnex(knex), { scope: 'eu-terminal' }),
  onPaid: ({ order = '' }, { tx }) => tx('orders').where({ id: order }).update({ paid: true }),
  transaction: work => knex.transaction(work),
  place: (tx, id) => tx('orders').insert({ id }),
  orders: () => knex('orders'),
  close: () => knex.destroy(),
});
