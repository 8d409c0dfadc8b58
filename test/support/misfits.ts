// What each library has for a database; nothing of it connects.
import { createRequire } from 'node:module';
import pg from 'pg';
import { folder } from './install-orms.ts';

const require = createRequire(`${folder}package.json`);

let made: ReturnType<typeof make> | undefined;

/** Of each library; made when the first test asks, and once. */
export function things() {
  made ??= make();
  return made;
}

function make() {
  const { Kysely, PostgresDialect } = require('kysely');
  const { DataSource } = require('typeorm');
  // Its client is generated; this is what an adapter looks at.
  const prismaTx = { $queryRawUnsafe: () => {}, $transaction: () => {} };
  return {
    drizzle: require('drizzle-orm/node-postgres').drizzle({ client: new pg.Pool() }),
    kysely: new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool() }) }),
    knex: require('knex')({ client: 'pg' }),
    sql: require('postgres')({ host: '127.0.0.1' }),
    dataSource: new DataSource({ type: 'postgres' }),
    prisma: { ...prismaTx, $connect: () => {} },
    prismaTx,
  };
}
