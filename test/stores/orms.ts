// Every library that the stores take, as a merchant has it, from test/tools.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as mysql from 'payment-gateway-sdk/mysql';
import * as postgres from 'payment-gateway-sdk/postgres';
import { hasPrisma, hasPrismaOverMysql, ormsFolder, toolsFolder } from '../support/install.ts';
import { MYSQL } from '../support/mysql-stores.ts';
import { POSTGRES, postgresPool } from '../support/stores.ts';

const require = createRequire(`${toolsFolder}package.json`);

// biome-ignore lint/suspicious/noExplicitAny: the libraries come without types here; test/orms checks those
export type Any = any;

export interface OrmOptions {
  /** Connections of the pool. */
  max?: number;
  /** Whether the sessions of Postgres begin at SERIALIZABLE. */
  isStrict?: boolean;
}

/** A library that is open. */
export interface OpenOrm {
  /** For the store. */
  database: Any;
  /** A transaction as the merchant begins it, by the library alone. */
  begin(work: (tx: Any) => Promise<unknown>): Promise<unknown>;
  /** A value that is easily taken for a transaction. */
  root: Any;
  close(): Promise<unknown>;
}

interface Kind {
  /** The versions of these count. */
  packages: readonly string[];
  nests: 'savepoint' | 'refuses';
  /** Runs a statement in a transaction, or outside any with the root. */
  sql(tx: Any, text: string): Promise<unknown>;
  /** Runs a transaction within one. */
  nest(tx: Any, work: (inner: Any) => Promise<unknown>): Promise<unknown>;
}

export interface Orm extends Kind {
  name: string;
  dialect: 'postgres' | 'mysql';
  /** A query on a connection that broke within a transaction ends the process: docs/databases.md */
  endsProcess?: boolean;
  /** The stores take its pool as it is. */
  isPool?: boolean;
  /** It reads and writes values by itself, so the suite of every store runs over it, too. */
  hasOwnValues?: boolean;
  open(options?: OrmOptions): Promise<OpenOrm>;
}

const within = (tx: Any, work: Any) => tx.transaction(work);
const bare = {
  nests: 'savepoint',
  sql: (tx, text) => tx.query(text),
  async nest(tx, work) {
    await tx.query('savepoint inner_part');
    await work(tx).catch(async error => {
      await tx.query('rollback to savepoint inner_part');
      throw error;
    });
  },
} satisfies Partial<Kind>;
const drizzle: Kind = {
  packages: ['drizzle-orm'],
  nests: 'savepoint',
  sql: async (tx, text) => tx.execute(require('drizzle-orm').sql.raw(text)),
  nest: within,
};
const kysely: Kind = {
  packages: ['kysely'],
  nests: 'refuses',
  sql: (tx, text) => require('kysely').sql.raw(text).execute(tx),
  nest: (tx, work) => tx.transaction().execute(work),
};
const knex: Kind = {
  packages: ['knex'],
  nests: 'savepoint',
  sql: async (tx, text) => tx.raw(text),
  nest: within,
};
const typeOrm: Kind = {
  packages: ['typeorm'],
  nests: 'savepoint',
  sql: (tx, text) => tx.query(text),
  nest: within,
};
const prisma: Kind = {
  packages: ['@prisma/client'],
  nests: 'savepoint',
  sql: (tx, text) => tx.$executeRawUnsafe(text),
  nest: (tx, work) => tx.$transaction(work),
};

const sizeOf = ({ max }: OrmOptions) => (max ? { poolSize: max } : {});

const LEVEL = { default_transaction_isolation: 'serializable' };
const pgOptions = ({ max, isStrict }: OrmOptions) => ({
  ...POSTGRES,
  ...(max && { max }),
  ...(isStrict && { options: `-c default_transaction_isolation=${LEVEL.default_transaction_isolation}` }),
});
const pgPool = (options: OrmOptions) => {
  const pool = postgresPool(pgOptions(options));
  // Without this line a connection that breaks in a transaction ends the process: docs/databases.md
  pool.on('connect', client => client.on('error', () => {}));
  return pool;
};
const postgresJs = ({ max = 10, isStrict }: OrmOptions) => {
  const { user: username, ...place } = POSTGRES;
  const driver = require('postgres');
  const connection = isStrict ? LEVEL : {};
  return driver({ ...place, username, max, onnotice: () => {}, transform: driver.pascal, connection });
};
const mysqlPool = ({ max }: OrmOptions) =>
  require('mysql2').createPool({ ...MYSQL, ...(max && { connectionLimit: max }) });

/** A transaction over a client of a pool. */
const beginOn =
  (connect: () => Promise<Any>): OpenOrm['begin'] =>
  async work => {
    const client = await connect();
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

const overKysely = (adapters: typeof postgres | typeof mysql, dialect: Any, options: OrmOptions): OpenOrm => {
  const { CamelCasePlugin, Kysely, ParseJSONResultsPlugin } = require('kysely');
  const db = new Kysely({ dialect, plugins: [new CamelCasePlugin(), new ParseJSONResultsPlugin()] });
  const begin: OpenOrm['begin'] = work => db.transaction().execute(work);
  return { database: adapters.fromKysely(db, sizeOf(options)), begin, root: db, close: () => db.destroy() };
};
const overKnex = (adapters: typeof postgres | typeof mysql, config: object, options: OrmOptions): OpenOrm => {
  const db = require('knex')({ ...config, pool: { min: 0, max: options.max ?? 10 } });
  const begin: OpenOrm['begin'] = work => db.transaction(work);
  return { database: adapters.fromKnex(db, sizeOf(options)), begin, root: db, close: () => db.destroy() };
};
const overTypeOrm = async (adapters: typeof postgres | typeof mysql, config: object): Promise<OpenOrm> => {
  const source = new (require('typeorm').DataSource)({ ...config, poolErrorHandler: () => {} });
  const database = adapters.fromTypeOrm(source as never);
  await source.initialize();
  return { database, begin: work => source.transaction(work), root: source.manager, close: () => source.destroy() };
};
const overPrisma = async (adapters: typeof postgres | typeof mysql, folder: string, adapter: Any, size: object) => {
  const { PrismaClient } = await import(`${ormsFolder}prisma/${folder}generated/client.ts`);
  const client = new PrismaClient({ adapter });
  const begin: OpenOrm['begin'] = work => client.$transaction(work);
  return { database: adapters.fromPrisma(client, size), begin, root: client, close: () => client.$disconnect() };
};

const overPostgres: readonly Omit<Orm, 'dialect'>[] = [
  {
    ...{ name: '`pg`', isPool: true, packages: ['pg'], ...bare },
    async open(options = {}) {
      const pool = postgresPool(pgOptions(options));
      return { database: pool, begin: beginOn(() => pool.connect()), root: pool, close: () => pool.end() };
    },
  },
  {
    ...{ name: 'Drizzle over `pg`', ...drizzle },
    async open(options = {}) {
      const pool = pgPool(options);
      const db = require('drizzle-orm/node-postgres').drizzle({ client: pool });
      const database = postgres.fromDrizzle(db, sizeOf(options));
      return { database, begin: work => db.transaction(work), root: db, close: () => pool.end() };
    },
  },
  {
    ...{ name: 'Drizzle over postgres.js', endsProcess: true, ...drizzle, packages: ['drizzle-orm', 'postgres'] },
    async open(options = {}) {
      const client = postgresJs(options);
      const db = require('drizzle-orm/postgres-js').drizzle({ client });
      const database = postgres.fromDrizzle(db, sizeOf(options));
      return { database, begin: work => db.transaction(work), root: db, close: () => client.end({ timeout: 1 }) };
    },
  },
  {
    ...{ name: 'Kysely', ...kysely },
    open: async (options = {}) => {
      const { PostgresDialect } = require('kysely');
      return overKysely(postgres, new PostgresDialect({ pool: pgPool(options) }), options);
    },
  },
  {
    ...{ name: 'Knex', ...knex },
    open: async (options = {}) => overKnex(postgres, { client: 'pg', connection: pgOptions(options) }, options),
  },
  {
    ...{ name: 'postgres.js', endsProcess: true, hasOwnValues: true, packages: ['postgres'], nests: 'savepoint' },
    sql: async (tx, text) => tx.unsafe(text),
    nest: (tx, work) => tx.savepoint(work),
    async open(options = {}) {
      const sql = postgresJs(options);
      const close = () => sql.end({ timeout: 1 });
      return { database: postgres.fromPostgresJs(sql), begin: work => sql.begin(work), root: sql, close };
    },
  },
  {
    ...{ name: 'TypeORM', ...typeOrm },
    open: (options = {}) => {
      const { max, options: session, user: username, ...place } = pgOptions(options) as Any;
      const config = { type: 'postgres', username, ...place, extra: { options: session }, poolSize: max };
      return overTypeOrm(postgres, config);
    },
  },
  {
    ...{ name: 'Prisma over `@prisma/adapter-pg`', hasOwnValues: true, ...prisma },
    open: async (options = {}) => {
      const { PrismaPg } = require('@prisma/adapter-pg');
      return overPrisma(postgres, '', new PrismaPg(pgOptions(options)), sizeOf(options));
    },
  },
];

const overMysql: readonly Omit<Orm, 'dialect'>[] = [
  {
    ...{ name: '`mysql2`', isPool: true, packages: ['mysql2'], ...bare },
    async open(options = {}) {
      const pool = mysqlPool(options).promise();
      return { database: pool, begin: beginOn(() => pool.getConnection()), root: pool, close: () => pool.end() };
    },
  },
  {
    ...{ name: 'Drizzle over `mysql2`', ...drizzle, packages: ['drizzle-orm', 'mysql2'] },
    async open(options = {}) {
      const pool = mysqlPool(options).promise();
      const db = require('drizzle-orm/mysql2').drizzle({ client: pool });
      const database = mysql.fromDrizzle(db, sizeOf(options));
      return { database, begin: work => db.transaction(work), root: db, close: () => pool.end() };
    },
  },
  {
    ...{ name: 'Kysely', ...kysely, packages: ['kysely', 'mysql2'] },
    open: async (options = {}) => {
      const { MysqlDialect } = require('kysely');
      return overKysely(mysql, new MysqlDialect({ pool: mysqlPool(options) }), options);
    },
  },
  {
    ...{ name: 'Knex', ...knex, packages: ['knex', 'mysql2'] },
    open: async (options = {}) => overKnex(mysql, { client: 'mysql2', connection: MYSQL }, options),
  },
  {
    ...{ name: 'TypeORM', ...typeOrm, packages: ['typeorm', 'mysql2'] },
    open: ({ max } = {}) => {
      const { user: username, ...place } = MYSQL;
      return overTypeOrm(mysql, { type: 'mysql', username, ...place, ...(max && { poolSize: max }) });
    },
  },
  {
    ...{ name: 'Prisma over `@prisma/adapter-mariadb`', hasOwnValues: true, ...prisma },
    packages: ['@prisma/client', '@prisma/adapter-mariadb'],
    open: async (options = {}) => {
      const { PrismaMariaDb } = require('@prisma/adapter-mariadb');
      const adapter = new PrismaMariaDb({ ...MYSQL, ...(options.max && { connectionLimit: options.max }) });
      return overPrisma(mysql, 'mysql/', adapter, sizeOf(options));
    },
  },
];

const isGenerated = ({ dialect, packages }: Orm) =>
  !packages.includes('@prisma/client') || (dialect === 'postgres' ? hasPrisma : hasPrismaOverMysql);

export const orms: readonly Orm[] = [
  ...overPostgres.map(orm => ({ ...orm, dialect: 'postgres' as const })),
  ...overMysql.map(orm => ({ ...orm, dialect: 'mysql' as const })),
].filter(isGenerated);

export const versionsOf = ({ packages }: Pick<Orm, 'packages'>): string =>
  packages
    .map(name => {
      const path = require.resolve.paths(name)?.find(path => existsSync(`${path}/${name}`));
      return JSON.parse(readFileSync(`${path}/${name}/package.json`, 'utf8')).version;
    })
    .join(', ');
