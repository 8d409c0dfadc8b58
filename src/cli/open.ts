// Opens the merchant's journal, with the driver of their app, and the gateway of their environment.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { GatewayClient } from '../client.ts';
import { withTimeout } from '../deadline.ts';
import type { Journal } from '../journal/contract.ts';
import { mysqlJournal } from '../mysql/journal.ts';
import { postgresJournal } from '../postgres/journal.ts';
import { fromPostgresJs, type PostgresJs } from '../postgres/postgres-js.ts';
import type { EventListener } from '../telemetry/events.ts';
import { CommandError } from '../terminal/program.ts';

/** Where the journal is. An empty text counts as absent. */
export interface Place {
  scope?: string | undefined;
  table?: string | undefined;
  settleMargin?: number | undefined;
}

export interface Opened {
  /** Made on first use, because reading the journal takes no keys. */
  readonly gateway: GatewayClient;
  journal: Journal;
  scope: string | undefined;
  close(): Promise<void>;
}

/** Milliseconds for a connection, and for a query. */
const LONGEST_WAIT = 5_000;

/** @throws {CommandError} {@link ConfigurationError} if something is missing or wrong */
export function open({ scope, table, settleMargin }: Place, onEvent?: EventListener): Opened {
  const url = process.env.DATABASE_URL?.trim();
  if (!url) throw new CommandError('DATABASE_URL is missing: set it to the database of the journal.');
  const openJournal = /^postgres(ql)?:/.test(url) ? inPostgres : /^(mysql|mariadb):/.test(url) ? inMysql : undefined;
  if (!openJournal) throw new CommandError('DATABASE_URL must begin with postgres:// or mysql://.');
  const { journal, close } = openJournal(url, { scope: scope || undefined, table: table || undefined, settleMargin });
  let gateway: GatewayClient | undefined;
  return {
    get gateway() {
      gateway ??= new GatewayClient({ journal, onEvent });
      return gateway;
    },
    journal,
    scope: scope || undefined,
    // A driver may wait for the answer to an abandoned query.
    close: () => withTimeout(close(), LONGEST_WAIT, () => {}),
  };
}

/** Loads a driver of the app. */
function find<T>(name: string): T | undefined {
  try {
    return createRequire(join(process.cwd(), 'package.json'))(name);
  } catch {
    return undefined;
  }
}

const missing = (drivers: string, driver: string) =>
  new CommandError(`${drivers} installed here: run this in the folder of your app, or npm install ${driver}.`);

function inPostgres(url: string, options: Place) {
  const pg = find<typeof import('pg')>('pg');
  if (pg) {
    const limits = { max: 2, connectionTimeoutMillis: LONGEST_WAIT, query_timeout: LONGEST_WAIT };
    const pool = new pg.Pool({ connectionString: url, ...limits });
    // The queries of a lost connection fail too.
    pool.on('error', () => {});
    return { journal: postgresJournal(pool, options), close: () => pool.end() };
  }
  const postgres = find<(url: string, options: object) => PostgresJs<unknown> & { end(): Promise<void> }>('postgres');
  if (!postgres) throw missing('Neither pg nor postgres is', 'pg');
  const sql = postgres(url, { max: 2, connect_timeout: LONGEST_WAIT / 1000, onnotice: () => {} });
  return { journal: postgresJournal(fromPostgresJs(sql), options), close: () => sql.end() };
}

function inMysql(url: string, options: Place) {
  const mysql = find<typeof import('mysql2/promise')>('mysql2/promise');
  if (!mysql) throw missing('mysql2 is not', 'mysql2');
  const uri = url.replace(/^mariadb:/, 'mysql:');
  const pool = mysql.createPool({ uri, connectionLimit: 2, connectTimeout: LONGEST_WAIT });
  return { journal: mysqlJournal(pool, options), close: () => pool.end() };
}
