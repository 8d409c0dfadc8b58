// Opens the merchant's journal and gateway as their environment tells.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { GatewayClient } from '../client.ts';
import type { Journal } from '../journal/contract.ts';
import type { PostgresDatabase } from '../postgres/database.ts';
import { postgresJournal } from '../postgres/journal.ts';
import type { PgPool } from '../postgres/pool.ts';
import { fromPostgresJs, type PostgresJs } from '../postgres/postgres-js.ts';
import type { EventListener } from '../telemetry/events.ts';
import { UsageError } from '../terminal/arguments.ts';
import type { Place } from './arguments.ts';

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
export function open(place: Place, env: NodeJS.ProcessEnv, onEvent?: EventListener): Opened {
  // A variable that is set to nothing is not set.
  const given = (name: string) => env[name]?.trim() || undefined;
  const url = given('DATABASE_URL');
  if (!url) throw new UsageError('DATABASE_URL is missing: it leads to the database of the journal.');
  if (!/^postgres(ql)?:\/\//.test(url)) throw new UsageError('DATABASE_URL must begin with postgres://.');
  const { database, close } = openDatabase(url);
  const scope = place.scope ?? given('PAYMENT_GATEWAY_JOURNAL_SCOPE');
  const margin = given('PAYMENT_GATEWAY_SETTLE_MARGIN');
  const journal = postgresJournal(database, {
    scope,
    table: place.table ?? given('PAYMENT_GATEWAY_JOURNAL_TABLE'),
    settleMargin: margin === undefined ? undefined : millisecondsOf(margin),
    encryptionKey: given('PAYMENT_GATEWAY_JOURNAL_KEY'),
  });
  let gateway: GatewayClient | undefined;
  return {
    get gateway() {
      gateway ??= new GatewayClient({ journal, onEvent });
      return gateway;
    },
    ...{ journal, scope, close },
  };
}

function millisecondsOf(margin: string): number {
  if (/^\d+$/.test(margin)) return Number(margin);
  throw new UsageError('PAYMENT_GATEWAY_SETTLE_MARGIN must be milliseconds, such as 600000.');
}

type Pool = PgPool & { end(): Promise<void>; on(event: 'error', listener: () => void): unknown };
type Sql = PostgresJs<unknown> & { end(): Promise<void> };

/** By the driver that the app has. */
function openDatabase(url: string): { database: PostgresDatabase; close(): Promise<void> } {
  const require = createRequire(join(process.cwd(), 'package.json'));
  const find = <T>(name: string): T | undefined => {
    try {
      return require(name);
    } catch {
      return undefined;
    }
  };
  const pg = find<{ Pool: new (options: object) => Pool }>('pg');
  if (pg) {
    const limits = { max: 2, connectionTimeoutMillis: LONGEST_WAIT, query_timeout: LONGEST_WAIT };
    const pool = new pg.Pool({ connectionString: url, ...limits });
    // Its queries fail too.
    pool.on('error', () => {});
    return { database: pool, close: () => pool.end() };
  }
  const postgres = find<(url: string, options: object) => Sql>('postgres');
  if (postgres) {
    const sql = postgres(url, { max: 2, connect_timeout: LONGEST_WAIT / 1000, onnotice: () => {} });
    return { database: fromPostgresJs(sql), close: () => sql.end() };
  }
  throw new UsageError(
    'Neither pg nor postgres is installed here: run this in the folder of your app, or npm install pg.',
  );
}
