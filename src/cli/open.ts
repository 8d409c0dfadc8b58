// Opens the merchant's journal and gateway as their environment tells.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { GatewayClient } from '../client.ts';
import { withTimeout } from '../deadline.ts';
import type { Journal } from '../journal/contract.ts';
import { mysqlJournal } from '../mysql/journal.ts';
import type { MysqlPromisePool } from '../mysql/pool.ts';
import { postgresJournal } from '../postgres/journal.ts';
import type { PgPool } from '../postgres/pg.ts';
import { fromPostgresJs, type PostgresJs } from '../postgres/postgres-js.ts';
import type { SqlJournalOptions } from '../sql/journal.ts';
import type { EventListener } from '../telemetry/events.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { Values } from './commands.ts';

export interface Opened {
  /** Made when it is first needed: to look into the journal takes no keys. */
  readonly gateway: GatewayClient;
  journal: Journal;
  /** The one that was named. */
  scope: string | undefined;
  close(): Promise<void>;
}

/** Milliseconds for a connection, and for a query. */
const LONGEST_WAIT = 5_000;

/** @throws {UsageError} {@link ConfigurationError} if something is missing or wrong */
export function open(values: Values, env: NodeJS.ProcessEnv, onEvent?: EventListener): Opened {
  // A variable that is set to nothing is not set.
  const given = (name: string) => env[name]?.trim() || undefined;
  const url = given('DATABASE_URL');
  if (!url) throw new UsageError('DATABASE_URL is missing: it leads to the database of the journal.');
  const scope = values.scope ?? given('PAYMENT_GATEWAY_JOURNAL_SCOPE');
  const margin = given('PAYMENT_GATEWAY_SETTLE_MARGIN');
  const { journal, close } = openJournal(url, {
    scope,
    table: values.table ?? given('PAYMENT_GATEWAY_JOURNAL_TABLE'),
    settleMargin: margin === undefined ? undefined : millisecondsOf(margin),
  });
  let gateway: GatewayClient | undefined;
  return {
    get gateway() {
      gateway ??= new GatewayClient({ journal, onEvent });
      return gateway;
    },
    ...{ journal, scope },
    // A driver may wait for the answer to a query that was given up.
    close: () => withTimeout(close(), LONGEST_WAIT, () => {}),
  };
}

function millisecondsOf(margin: string): number {
  if (/^\d+$/.test(margin)) return Number(margin);
  throw new UsageError('PAYMENT_GATEWAY_SETTLE_MARGIN must be milliseconds, such as 600000.');
}

/** What every journal in a database takes. */
type Options = SqlJournalOptions;

/** By what its address begins with. */
function openJournal(url: string, options: Options): { journal: Journal; close(): Promise<void> } {
  if (/^postgres(ql)?:\/\//.test(url)) return inPostgres(url, options);
  if (/^(mysql|mariadb):\/\//.test(url)) return inMysql(url, options);
  throw new UsageError('DATABASE_URL must begin with postgres:// or mysql://.');
}

type Pool = PgPool & { end(): Promise<void>; on(event: 'error', listener: () => void): unknown };
type Sql = PostgresJs<unknown> & { end(): Promise<void> };

/** A driver of the app's. */
function find<T>(name: string): T | undefined {
  try {
    return createRequire(join(process.cwd(), 'package.json'))(name);
  } catch {
    return undefined;
  }
}

const missing = (drivers: string, driver: string) =>
  new UsageError(`${drivers} installed here: run this in the folder of your app, or npm install ${driver}.`);

function inPostgres(url: string, options: Options) {
  const pg = find<{ Pool: new (options: object) => Pool }>('pg');
  if (pg) {
    const limits = { max: 2, connectionTimeoutMillis: LONGEST_WAIT, query_timeout: LONGEST_WAIT };
    const pool = new pg.Pool({ connectionString: url, ...limits });
    // Its queries fail too.
    pool.on('error', () => {});
    return { journal: postgresJournal(pool, options), close: () => pool.end() };
  }
  const postgres = find<(url: string, options: object) => Sql>('postgres');
  if (!postgres) throw missing('Neither pg nor postgres is', 'pg');
  const sql = postgres(url, { max: 2, connect_timeout: LONGEST_WAIT / 1000, onnotice: () => {} });
  return { journal: postgresJournal(fromPostgresJs(sql), options), close: () => sql.end() };
}

function inMysql(url: string, options: Options) {
  const mysql = find<{ createPool(options: object): MysqlPromisePool & { end(): Promise<void> } }>('mysql2/promise');
  if (!mysql) throw missing('mysql2 is not', 'mysql2');
  const uri = url.replace(/^mariadb:/, 'mysql:');
  const pool = mysql.createPool({ uri, connectionLimit: 2, connectTimeout: LONGEST_WAIT });
  return { journal: mysqlJournal(pool, options), close: () => pool.end() };
}
