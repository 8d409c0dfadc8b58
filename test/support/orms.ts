// Every library that the stores in Postgres take, as a merchant has it. They live in packages of their own: test/orms.
import {
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromPostgresJs,
  fromPrisma,
  fromTypeOrm,
} from 'payment-gateway-sdk/postgres';
import { hasPrisma, ormsFolder } from './install.ts';
import { type Any, type Handle, type OpenOrm, type Orm, type OrmOptions, require, requirePrisma } from './orm.ts';
import { POSTGRES, postgresPool } from './stores.ts';

const url = ({ port = POSTGRES.port, options = '' }: OrmOptions) =>
  `postgres://${POSTGRES.user}@${POSTGRES.host}:${port}/${POSTGRES.database}?options=${encodeURIComponent(options)}`;
const pgOptions = ({ max, options, port }: OrmOptions) => ({
  ...(max && { max }),
  ...(options && { options }),
  ...(port && { port }),
});

const sizeOf = ({ max }: OrmOptions) => (max ? { poolSize: max } : {});
const insertOf = (table: string) => `insert into ${table} values ($1)`;
const countOf = (table: string) => `select count(*)::text as times from ${table} where payment_id = $1::text::uuid`;

function overPg(table: string, root: Any) {
  const over = (handle = root): Handle => ({
    tx: handle,
    credit: id => handle.query(insertOf(table), [id]),
    times: async id => Number((await handle.query(countOf(table), [id])).rows[0].times),
    sql: text => handle.query(text),
    async nested(work) {
      await handle.query('savepoint inner_part');
      await work(over(handle)).catch(async error => {
        await handle.query('rollback to savepoint inner_part');
        throw error;
      });
    },
  });
  return over;
}

function overDrizzle(table: string, root: Any) {
  const { pgTable, uuid } = require('drizzle-orm/pg-core');
  const { eq, sql } = require('drizzle-orm');
  const credits = pgTable(table, { paymentId: uuid('payment_id').notNull() });
  const over = (handle = root): Handle => ({
    tx: handle,
    credit: async paymentId => handle.insert(credits).values({ paymentId }),
    times: async id => (await handle.select().from(credits).where(eq(credits.paymentId, id))).length,
    sql: async text => handle.execute(sql.raw(text)),
    nested: work => handle.transaction((inner: Any) => work(over(inner))),
  });
  return over;
}

const postgresJs = (options: OrmOptions) =>
  require('postgres')(url({ ...options, options: '' }), {
    max: options.max ?? 10,
    onnotice: () => {},
    transform: require('postgres').pascal,
    // It sends settings by name.
    connection: Object.fromEntries(
      [...(options.options ?? '').matchAll(/-c (\w+)=(\w+)/g)].map(([, name, value]) => [name, value]),
    ),
  });

const bare: Orm = {
  name: '`pg`',
  packages: ['pg'],
  nests: 'savepoint',
  isPool: true,
  async open(options) {
    const pool = postgresPool(pgOptions(options));
    const begin: OpenOrm['begin'] = async work => {
      const client = await pool.connect();
      try {
        await client.query('begin');
        await work(client);
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    };
    return { database: pool, over: overPg(options.table, pool), begin, root: pool, close: () => pool.end() };
  },
};

const drizzleOverPg: Orm = {
  name: 'Drizzle over `pg`',
  packages: ['drizzle-orm'],
  nests: 'savepoint',
  async open(options) {
    const pool = postgresPool(pgOptions(options));
    // Without this line a connection that breaks in a transaction ends the process: docs/databases.md
    pool.on('connect', client => client.on('error', () => {}));
    const db = require('drizzle-orm/node-postgres').drizzle({ client: pool });
    return {
      database: fromDrizzle(db, sizeOf(options)),
      over: overDrizzle(options.table, db),
      begin: work => db.transaction(work),
      root: db,
      close: () => pool.end(),
    };
  },
};

const drizzleOverPostgresJs: Orm = {
  name: 'Drizzle over postgres.js',
  endsProcess: true,
  packages: ['drizzle-orm', 'postgres'],
  nests: 'savepoint',
  async open(options) {
    const client = postgresJs(options);
    const db = require('drizzle-orm/postgres-js').drizzle({ client });
    return {
      database: fromDrizzle(db, sizeOf(options)),
      over: overDrizzle(options.table, db),
      begin: work => db.transaction(work),
      root: db,
      close: () => client.end({ timeout: 1 }),
    };
  },
};

const kysely: Orm = {
  name: 'Kysely',
  packages: ['kysely'],
  nests: 'refuses',
  async open(options) {
    const { CamelCasePlugin, Kysely, ParseJSONResultsPlugin, PostgresDialect, sql } = require('kysely');
    const pool = postgresPool(pgOptions(options));
    // Without this line a connection that breaks in a transaction ends the process: docs/databases.md
    pool.on('connect', client => client.on('error', () => {}));
    const plugins = [new CamelCasePlugin(), new ParseJSONResultsPlugin()];
    const db = new Kysely({ dialect: new PostgresDialect({ pool }), plugins });
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
  packages: ['knex'],
  nests: 'savepoint',
  async open(options) {
    const db = require('knex')({
      client: 'pg',
      connection: { ...POSTGRES, ...pgOptions(options) },
      pool: { min: 0, max: options.max ?? 10 },
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

const postgres: Orm = {
  name: 'postgres.js',
  endsProcess: true,
  packages: ['postgres'],
  nests: 'savepoint',
  async open(options) {
    const sql = postgresJs(options);
    const { table } = options;
    const over = (handle: Any = sql): Handle => ({
      tx: handle,
      credit: async id => handle`insert into ${sql(table)} values (${id})`,
      times: async id => (await handle`select from ${sql(table)} where payment_id = ${id}`).length,
      sql: async text => handle.unsafe(text),
      nested: work => handle.savepoint((inner: Any) => work(over(inner))),
    });
    return {
      database: fromPostgresJs(sql),
      over,
      begin: work => sql.begin(work),
      root: sql,
      close: () => sql.end({ timeout: 1 }),
    };
  },
};

const typeOrm: Orm = {
  name: 'TypeORM',
  packages: ['typeorm'],
  nests: 'savepoint',
  async open(options) {
    const { DataSource } = require('typeorm');
    const source = new DataSource({
      type: 'postgres',
      url: url(options),
      ...(options.max && { poolSize: options.max }),
      poolErrorHandler: () => {},
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
  name: 'Prisma over `@prisma/adapter-pg`',
  packages: ['@prisma/client'],
  nests: 'savepoint',
  async open(options) {
    const { PrismaPg } = requirePrisma('@prisma/adapter-pg');
    const { PrismaClient } = await import(`${ormsFolder}prisma/generated/client.ts`);
    const adapter = new PrismaPg({ ...POSTGRES, ...pgOptions(options) });
    const client = new PrismaClient({ adapter });
    const { table } = options;
    const over = (handle: Any = client): Handle => ({
      tx: handle,
      credit: id => handle.$executeRawUnsafe(`insert into ${table} values ($1::uuid)`, id),
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
const quick = [bare, drizzleOverPg, drizzleOverPostgresJs, kysely, knex, postgres, typeOrm];
export const orms: readonly Orm[] = hasPrisma ? [...quick, prisma] : quick;
