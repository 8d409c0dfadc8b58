// The table of a store in Postgres.
import { createHash } from 'node:crypto';
import type { Migrations } from '../sql/table.ts';

export const quoted = (table: string) => `"${table.replace('.', '"."')}"`;

/** A key of an advisory lock: 64 bits of a hash, as text because a number would lose some. */
export const lockKey = (name: string) => createHash('sha256').update(name).digest().readBigInt64BE().toString();

/** Without a schema, which is the table's, and cut to 63 characters, as Postgres would without an error. */
export const indexName = (table: string, suffix: string) =>
  `"${table.replace(/.*\./, '').slice(0, 62 - suffix.length)}_${suffix}"`;

/** All or none run. Never change a published one: add another. */
export function migrationsOf(name: string): Migrations {
  const table = quoted(name);
  const index = (suffix: string) => `INDEX IF NOT EXISTS ${indexName(name, suffix)} ON ${table}`;
  const steps = [
    // jsonb would refuse a NUL that the gateway may echo.
    `CREATE TABLE IF NOT EXISTS ${table} (
  scope text NOT NULL,
  kind text NOT NULL,
  id text NOT NULL,
  state text NOT NULL,
  revision integer NOT NULL,
  begun_at timestamptz NOT NULL,
  due_at timestamptz,
  leased_until timestamptz,
  payment_id text,
  data json NOT NULL,
  about json,
  was text,
  writer text,
  PRIMARY KEY (scope, kind, id)
)`,
    // One payment belongs to one create.
    `CREATE UNIQUE ${index('payment')} (scope, payment_id) WHERE payment_id IS NOT NULL`,
    // For sweeps.
    `CREATE ${index('due')} (scope, kind, due_at)
  WHERE due_at IS NOT NULL AND state NOT IN ('planned', 'freed')`,
    // For planned payouts, and those refused for good.
    `CREATE ${index('planned')} (scope, kind, due_at)
  WHERE due_at IS NOT NULL AND state IN ('planned', 'freed')`,
    // For creates in doubt, uncertain effects and reviews.
    `CREATE ${index('open')} (scope, kind, begun_at)
  WHERE state IN ('begun', 'review')`,
  ];
  return {
    steps,
    lock: `SELECT '1' AS locked FROM pg_advisory_xact_lock(${lockKey(`migrate ${name}`)})`,
    comment: `SELECT obj_description(to_regclass('${table}'), 'pg_class') AS comment`,
    setComment: comment => `COMMENT ON TABLE ${table} IS '${comment}'`,
  };
}
