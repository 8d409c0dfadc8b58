// Whatever somebody could pass where a database belongs; nothing of it connects.
import { createRequire } from 'node:module';
import { PassThrough } from 'node:stream';
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
  const drizzle = require('drizzle-orm/node-postgres').drizzle({ client: new pg.Pool() });
  const { DummyDriver, Kysely, MssqlAdapter, MssqlQueryCompiler } = require('kysely');
  const { MysqlDialect, PostgresDialect, SqliteDialect } = require('kysely');
  // Its own dialect needs a driver, which is not installed.
  const mssql = {
    createAdapter: () => new MssqlAdapter(),
    createDriver: () => new DummyDriver(),
    createQueryCompiler: () => new MssqlQueryCompiler(),
  };
  const kysely = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool() }) });
  const knex = require('knex')({ client: 'pg' });
  const sql = require('postgres')({ host: '127.0.0.1' });
  const { DataSource } = require('typeorm');
  const dataSource = new DataSource({ type: 'postgres' });
  // Its client is generated; this is what an adapter looks at.
  const prismaTx = { $queryRawUnsafe: () => {}, $transaction: () => {} };
  const mysql = require('mysql2');
  const { createPool } = mysql;
  const prisma = { ...prismaTx, $connect: () => {} };
  return {
    drizzle,
    drizzleTx: Object.assign(Object.create(drizzle), { nestedIndex: 0 }),
    drizzleClient: require('drizzle-orm/node-postgres').drizzle({ client: new pg.Client() }),
    drizzleProxy: require('drizzle-orm/pg-proxy').drizzle(async () => ({ rows: [] })),
    drizzleMysql: require('drizzle-orm/mysql2').drizzle({ client: createPool({}) }),
    drizzleMysqlClient: require('drizzle-orm/mysql2').drizzle({ client: connectionOf(mysql) }),
    drizzleMysqlProxy: require('drizzle-orm/mysql-proxy').drizzle(async () => ({ rows: [] })),
    drizzleSqlite: require('drizzle-orm/sqlite-proxy').drizzle(async () => ({ rows: [] })),
    kysely,
    kyselyTx: Object.create(kysely, { isTransaction: { value: true } }),
    kyselyMysql: new Kysely({ dialect: new MysqlDialect({ pool: {} }) }),
    kyselySqlite: new Kysely({ dialect: new SqliteDialect({ database: {} }) }),
    kyselyMssql: new Kysely({ dialect: mssql }),
    knex,
    knexTx: Object.assign((..._: unknown[]) => {}, {
      raw: knex.raw,
      transaction: knex.transaction,
      isTransaction: true,
    }),
    knexMysql: require('knex')({ client: 'mysql2' }),
    knexMysqlOne: require('knex')({ client: 'mysql2', pool: { max: 1 } }),
    // Its driver is not installed; this is what an adapter looks at.
    knexOldMysql: Object.assign((..._: unknown[]) => {}, {
      raw: knex.raw,
      transaction: knex.transaction,
      client: { dialect: 'mysql', driverName: 'mysql' },
    }),
    knexSqlite: require('knex')({ client: 'better-sqlite3', useNullAsDefault: true }),
    sql,
    sqlTx: Object.assign((..._: unknown[]) => {}, { unsafe: sql.unsafe, savepoint: () => {} }),
    sqlOne: require('postgres')({ host: '127.0.0.1', max: 1 }),
    dataSource,
    manager: dataSource.manager,
    dataSourceMysql: new DataSource({ type: 'mysql' }),
    dataSourceMysqlOne: new DataSource({ type: 'mysql', poolSize: 1 }),
    dataSourceSqlite: {
      ...dataSource,
      createQueryRunner: () => {},
      transaction: () => {},
      options: { type: 'sqlite' },
    },
    prisma,
    prismaTx,
    sequelize: new (require('sequelize').Sequelize)('postgres://127.0.0.1/test', { dialectModule: pg }),
    mysqlConnection: connectionOf(mysql),
    mysqlPool: createPool({}),
    mysqlPromisePool: createPool({}).promise(),
    mysqlOne: createPool({ connectionLimit: 1 }),
    // Those of the old mysql and of mariadb: neither is installed.
    otherPool: { getConnection: () => {}, query: () => {}, end: () => {}, activeConnections: () => 0 },
    prismaMysql: { ...prisma, _activeProvider: 'mysql', $extends: () => prisma },
  };
}

/** A connection that connects nowhere, and never gives up. */
const connectionOf = ({ createConnection }: { createConnection(options: object): object }) =>
  createConnection({ stream: new PassThrough(), connectTimeout: 0 });
