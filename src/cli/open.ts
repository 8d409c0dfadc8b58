// Opens the merchant's journal and gateway as their environment tells.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { GatewayClient } from '../client.ts';
import type { Journal } from '../journal/contract.ts';
import { postgresJournal } from '../postgres/journal.ts';
import type { PgPool } from '../postgres/pool.ts';
import { UsageError } from '../terminal/arguments.ts';
import type { Place } from './arguments.ts';

export interface Opened {
  gateway: GatewayClient;
  journal: Journal;
  close(): Promise<void>;
}

type Pool = PgPool & { end(): Promise<void>; on(event: 'error', listener: () => void): unknown };

/** Milliseconds for a connection, and for a query. */
const LONGEST_WAIT = 5_000;

/** @throws {UsageError} {@link ConfigurationError} if something is missing or wrong */
export function open({ scope, table }: Place, env: NodeJS.ProcessEnv): Opened {
  const { DATABASE_URL, PAYMENT_GATEWAY_SETTLE_MARGIN } = env;
  const margin = PAYMENT_GATEWAY_SETTLE_MARGIN?.trim();
  if (!DATABASE_URL) throw new UsageError('DATABASE_URL is missing: it leads to the database of the journal.');
  const pool = new (findPg().Pool)({
    connectionString: DATABASE_URL,
    max: 2,
    connectionTimeoutMillis: LONGEST_WAIT,
    query_timeout: LONGEST_WAIT,
  });
  // Its queries fail too.
  pool.on('error', () => {});
  const journal = postgresJournal(pool, {
    scope: scope ?? env.PAYMENT_GATEWAY_JOURNAL_SCOPE,
    table: table ?? env.PAYMENT_GATEWAY_JOURNAL_TABLE,
    settleMargin: margin === undefined ? undefined : Number(margin || Number.NaN),
  });
  return { gateway: new GatewayClient({ journal }), journal, close: () => pool.end() };
}

/** The app's own driver. */
function findPg(): { Pool: new (options: object) => Pool } {
  try {
    return createRequire(join(process.cwd(), 'package.json'))('pg');
  } catch {
    throw new UsageError('pg is not installed here: run this in the folder of your app, or npm install pg.');
  }
}
