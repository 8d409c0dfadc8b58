// Every library that the stores in MySQL and MariaDB take, as a merchant has it. They live in packages of their own: test/orms.
import type { Connection, Pool } from 'mysql2';
import {
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromPrisma,
  fromTypeOrm,
  type MysqlDatabase,
} from 'payment-gateway-sdk/mysql';
import { hasPrismaOverMysql, ormsFolder } from './install.ts';
import { MYSQL } from './mysql-stores.ts';
import {
  type Any,
  type Orm as AnyOrm,
  type Handle,
  type OpenOrm,
  type OrmOptions,
  require,
  requirePrisma,
} from './orm.ts';

type Orm = AnyOrm<MysqlDatabase>;

const sizeOf = ({ max }: OrmOptions) => (max ? { poolSize: max } : {});
const insertOf = (table: string) => `insert into ${table} values (?)`;
const countOf = (table: string) => `select count(*) as times from ${table} where payment_id = ?`;

/** A pool of callbacks, which has that of promises in it. */
function callbackPool({ max, options, port }: OrmOptions): Pool {
  const pool: Pool = require('mysql2').createPool({
    ...MYSQL,
    ...(port && { port }),
    ...(max && { connectionLimit: max }),
  });
  if (options) pool.on('connection', connection => connection.query(options));
  return pool;
}

const bare: Orm = {
  name: '`mysql2`',
  packages: ['mysql2'],
  nests: 'savepoint',
  isPool: true,
  async open(options) {
    const pool = callbackPool(options).promise();
    const { table } = options;
    const over = (handle: Any = pool): Handle => ({
      tx: handle,
      credit: id => handle.query(insertOf(table), [id]),
      times: async id => Number((await handle.query(countOf(table), [id]))[0][0].times),
      sql: text => handle.query(text),
      async nested(work) {
        await handle.query('savepoint inner_part');
        await work(over(handle)).catch(async error => {
          await handle.query('rollback to savepoint inner_part');
          throw error;
        });
      },
    });
    const begin: OpenOrm['begin'] = async work => {
      const connection = await pool.getConnection();
      try {
        await connection.beginTransaction();
        await work(connection);
        await connection.commit();
      } catch (error) {
        await connection.rollback();
        throw error;
      } finally {
        connection.release();
      }
    };
    return { database: pool, over, begin, root: pool, close: () => pool.end() };
  },
};

const drizzle: Orm = {
  name: 'Drizzle over `mysql2`',
  packages: ['drizzle-orm', 'mysql2'],
  nests: 'savepoint',
  async open(options) {
    const { char, mysqlTable } = require('drizzle-orm/mysql-core');
    const { eq, sql } = require('drizzle-orm');
    const pool = callbackPool(options).promise();
    const db = require('drizzle-orm/mysql2').drizzle({ client: pool });
    const credits = mysqlTable(options.table, { paymentId: char('payment_id', { length: 36 }).notNull() });
    const over = (handle: Any = db): Handle => ({
      tx: handle,
      credit: async paymentId => handle.insert(credits).values({ paymentId }),
      times: async id => (await handle.select().from(credits).where(eq(credits.paymentId, id))).length,
      sql: async text => handle.execute(sql.raw(text)),
      nested: work => handle.transaction((inner: Any) => work(over(inner))),
    });
    return {
      database: fromDrizzle(db, sizeOf(options)),
      over,
      begin: work => db.transaction(work),
      root: db,
      close: () => pool.end(),
    };
  },
};

const kysely: Orm = {
  name: 'Kysely',
  packages: ['kysely', 'mysql2'],
  nests: 'refuses',
  async open(options) {
    const { CamelCasePlugin, Kysely, MysqlDialect, ParseJSONResultsPlugin, sql } = require('kysely');
    const plugins = [new CamelCasePlugin(), new ParseJSONResultsPlugin()];
    const db = new Kysely({ dialect: new MysqlDialect({ pool: callbackPool(options) }), plugins });
    const { table } = options;
    const over = (handle: Any = db): Handle => ({
      tx: handle,
      credit: id => handle.insertInto(table).values({ paymentId: id }).execute(),
      times: async id => (await handle.selectFrom(table).selectAll().where('paymentId', '=', id).execute()).length,
      sql: text => sql.raw(text).execute(handle),
      nested: work => handle.transaction().execute((inner: Any) => work(over(inner))),
    });
    return {
      database: fromKysely(db, sizeOf(options)),
      over,
      begin: work => db.transaction().execute(work),
      root: db,
      close: () => db.destroy(),
    };
  },
};

const knex: Orm = {
  name: 'Knex',
  packages: ['knex', 'mysql2'],
  nests: 'savepoint',
  async open(options) {
    const afterCreate = (connection: Connection, done: (error: unknown, connection: Connection) => void) =>
      connection.query(options.options ?? 'select 1', error => done(error, connection));
    const db = require('knex')({
      client: 'mysql2',
      connection: { ...MYSQL, ...(options.port && { port: options.port }) },
      pool: { min: 0, max: options.max ?? 10, ...(options.options && { afterCreate }) },
    });
    const { table } = options;
    const over = (handle: Any = db): Handle => ({
      tx: handle,
      credit: async id => handle(table).insert({ payment_id: id }),
      times: async id => (await handle(table).where({ payment_id: id })).length,
      sql: async text => handle.raw(text),
      nested: work => handle.transaction((inner: Any) => work(over(inner))),
    });
    return {
      database: fromKnex(db, sizeOf(options)),
      over,
      begin: work => db.transaction(work),
      root: db,
      close: () => db.destroy(),
    };
  },
};

const typeOrm: Orm = {
  name: 'TypeORM',
  packages: ['typeorm', 'mysql2'],
  nests: 'savepoint',
  async open(options) {
    const { DataSource } = require('typeorm');
    const { user: username, ...place } = MYSQL;
    const source = new DataSource({
      type: 'mysql',
      username,
      ...place,
      ...(options.port && { port: options.port }),
      ...(options.max && { poolSize: options.max }),
      // It has no setting for what a session begins with.
      ...(options.options && { driver: { createPool: () => callbackPool(options) } }),
    });
    const database = fromTypeOrm(source as never);
    await source.initialize();
    const { table } = options;
    const over = (handle: Any = source.manager): Handle => ({
      tx: handle,
      credit: id => handle.createQueryBuilder().insert().into(table).values({ payment_id: id }).execute(),
      times: async id => Number((await handle.query(countOf(table), [id]))[0].times),
      sql: text => handle.query(text),
      nested: work => handle.transaction((inner: Any) => work(over(inner))),
    });
    return {
      database,
      over,
      begin: work => source.transaction(work),
      root: source.manager,
      close: () => source.destroy(),
    };
  },
};

const prisma: Orm = {
  name: 'Prisma over `@prisma/adapter-mariadb`',
  packages: ['@prisma/client', '@prisma/adapter-mariadb'],
  nests: 'savepoint',
  async open(options) {
    const { PrismaMariaDb } = requirePrisma('@prisma/adapter-mariadb');
    const { PrismaClient } = await import(`${ormsFolder}prisma/mysql/generated/client.ts`);
    const adapter = new PrismaMariaDb({
      ...MYSQL,
      ...(options.port && { port: options.port }),
      ...(options.max && { connectionLimit: options.max }),
      ...(options.options && { initSql: options.options }),
    });
    const client = new PrismaClient({ adapter });
    const { table } = options;
    const over = (handle: Any = client): Handle => ({
      tx: handle,
      credit: id => handle.$executeRawUnsafe(insertOf(table), id),
      times: async id => Number((await handle.$queryRawUnsafe(countOf(table), id))[0].times),
      sql: text => handle.$executeRawUnsafe(text),
      nested: work => handle.$transaction((inner: Any) => work(over(inner))),
    });
    return {
      database: fromPrisma(client, sizeOf(options)),
      over,
      begin: work => client.$transaction(work),
      root: client,
      close: () => client.$disconnect(),
    };
  },
};

/** Those that `npm test` has. */
const quick = [bare, drizzle, kysely, knex, typeOrm];
export const mysqlOrms: readonly Orm[] = hasPrismaOverMysql ? [...quick, prisma] : quick;
