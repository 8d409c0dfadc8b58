// What is needed of the merchant's own `pg` pool, by shape, and how it is used without starving the merchant.
import { createHash } from 'node:crypto';
import { delay, withTimeout } from '../deadline.ts';
import { ConfigurationError } from '../errors.ts';
import { type Limited, limit } from '../limit.ts';
import type { ProblemOf } from '../schemas/store-options.ts';

/** A client of a pool, as of `pg`. */
export interface PgClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[]; command: string; rowCount?: number | null }>;
  release(destroy?: boolean | Error): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

/** A pool, as of `pg`. */
export interface PgPool {
  connect(): Promise<PgClient>;
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  /** `max` is the size of the pool; without it 10 is assumed, as in `pg`. */
  options?: { max?: number | undefined };
}

/** The clients of a pool, also where `connect` has an overload that takes a callback. */
export type ClientOf<Pool> = Pool extends {
  connect: { (): Promise<infer Client extends PgClient>; (...args: never[]): unknown };
}
  ? Client
  : PgClient;

/** @throws {ConfigurationError} for what is no pool: in a client's transaction, what we commit could be rolled back */
export function checkPool(owner: string, pool: PgPool): void {
  const { connect, query, release } = (pool ?? {}) as unknown as Record<string, unknown>;
  if (typeof connect === 'function' && typeof query === 'function' && release === undefined) return;
  throw new ConfigurationError(`${owner} takes a pool, such as new pg.Pool(): pass the pool, not one of its clients.`);
}

/** For an option that is the name of a table. */
export const tableNameProblem: ProblemOf = value =>
  typeof value === 'string' && /^[a-z_][a-z\d_]*(\.[a-z_][a-z\d_]*)?$/i.test(value)
    ? undefined
    : 'must be a plain name such as my_table, or schema.my_table';

/** A table's name as SQL. */
export const quoted = (table: string): string =>
  table
    .split('.')
    .map(part => `"${part}"`)
    .join('.');

/** Milliseconds to wait for a client of the pool, and for a statement of our own. */
const LONGEST_WAIT = 5_000;

/** A client of the pool, for one work. */
export interface Connection<Client extends PgClient> {
  client: Client;
  /** Runs a statement of our own. One that is not answered in time takes the connection with it. */
  query: PgClient['query'];
}

export type ClientRunner<Client extends PgClient> = <T>(
  work: (connection: Connection<Client>) => Promise<T>,
) => Promise<T>;

/** By pool, because the works of all our stores together must leave the merchant half of it. */
const LIMITS = Symbol.for('payment-gateway-sdk.pool-limits');

/** Shared by the ESM and the CommonJS copy. */
function limits(): WeakMap<PgPool, Limited> {
  const shared = globalThis as { [LIMITS]?: WeakMap<PgPool, Limited> };
  shared[LIMITS] ??= new WeakMap();
  return shared[LIMITS];
}

/**
 * Runs works with clients of the pool, at most half of them at a time: a merchant's code inside may need others.
 *
 * @throws {ConfigurationError} for a pool of one client
 */
export function clientRunner<Client extends PgClient>(pool: PgPool): ClientRunner<Client> {
  const limited = limits().get(pool) ?? limit(halfOf(pool), { ms: LONGEST_WAIT, error: noPlace });
  limits().set(pool, limited);
  return work =>
    limited(async () => {
      const client = (await checkOut(pool)) as Client;
      let broken: Error | undefined;
      // A connection that breaks between two queries emits an event, which without a listener ends the process.
      const onError = (error: Error) => {
        broken = error;
      };
      client.on('error', onError);
      const query: PgClient['query'] = async (sql, values) => {
        if (broken) throw broken;
        return withTimeout(client.query(sql, values), LONGEST_WAIT, () => {
          broken = new Error(`The database did not answer within ${LONGEST_WAIT} ms.`);
          throw broken;
        });
      };
      try {
        return await work({ client, query });
      } catch (error) {
        await query('ROLLBACK').catch((failure: Error) => {
          broken ??= failure;
        });
        throw error;
      } finally {
        client.removeListener('error', onError);
        client.release(broken);
      }
    });
}

function halfOf({ options: { max = 10 } = {} }: PgPool): number {
  if (max >= 2) return Math.floor(max / 2);
  throw new ConfigurationError('The pool needs `max` of 2 or more: with 1, onPayment could wait for itself for ever.');
}

const noPlace = () =>
  new Error(`Half of the pool was in use for ${LONGEST_WAIT} ms by callbacks of other payments: increase its \`max\`.`);

function checkOut(pool: PgPool): Promise<PgClient> {
  let isLate = false;
  const connecting = pool.connect();
  connecting.then(client => isLate && client.release()).catch(() => {});
  return withTimeout(connecting, LONGEST_WAIT, () => {
    isLate = true;
    throw new Error(
      `The pool had no free connection within ${LONGEST_WAIT} ms: increase its \`max\`, or look whether the database answers.`,
    );
  });
}

/** What Postgres answers a statement that met another one at the same instant: a serialisation failure, or a deadlock. */
const MET_ANOTHER: ReadonlySet<unknown> = new Set(['40001', '40P01']);
const MOST_TRIES = 10;
/** Milliseconds, more at each try. */
const PAUSE = 10;

/** Runs a transaction, and again if the database has undone it because it met another one. */
export async function repeated<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await transaction();
    } catch (error) {
      if (tries === MOST_TRIES || !hasMetAnother(error)) throw error;
      await delay(Math.random() * tries * PAUSE);
    }
  }
}

/** ORMs keep the driver's error as the cause of their own. */
function hasMetAnother(error: unknown): boolean {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth++) {
    if (MET_ANOTHER.has((current as { code?: unknown }).code)) return true;
  }
  return false;
}

/**
 * The value, in a statement whose transaction is on disk here and on a synchronous standby, even where the database answers
 * a COMMIT before that: what is forgotten after the money has moved would move it again.
 */
export const durably = (value: string) => `CASE WHEN CASE WHEN current_setting('synchronous_commit') IN
    ('off', 'local', 'remote_write') THEN set_config('synchronous_commit', 'on', true) = 'on' ELSE true END THEN ${value} END`;

/** @throws Error if the transaction was rolled back instead: COMMIT answers so, without an error. */
export async function commit(query: PgClient['query']): Promise<void> {
  const { command } = await query('COMMIT');
  if (command !== 'COMMIT') throw new Error(`COMMIT answered ${command}: the transaction was rolled back.`);
}

/** The key of an advisory lock: 64 bits of a hash, as text, because a number would lose some of them. */
export const lockKey = (name: string): string => createHash('sha256').update(name).digest().readBigInt64BE().toString();

/** How the comment of a table tells which of its migrations have run. */
const VERSION = /^payment-gateway-sdk, version (\d+)$/;

/**
 * Runs the migrations of a table that have not run yet, by one replica at a time, all or none. A table of a later version
 * of the SDK is left as it is. Each can run again where somebody has changed the table's comment, which keeps its version.
 *
 * @param steps every one there ever was, oldest first; the first creates the table
 */
export async function migrate(pool: PgPool, table: string, steps: readonly string[]): Promise<void> {
  await clientRunner(pool)(async ({ client, query }) => {
    await query('BEGIN');
    // Another replica may take its time.
    await client.query('SELECT pg_advisory_xact_lock($1::bigint)', [lockKey(`migrate ${table}`)]);
    const { rows } = await query(`SELECT obj_description(to_regclass($1), 'pg_class') AS comment`, [quoted(table)]);
    const { comment } = rows[0] as { comment: string | null };
    const version = Number(VERSION.exec(comment ?? '')?.[1] ?? 0);
    for (const step of steps.slice(version)) await client.query(step);
    if (version < steps.length) await query(commentOn(table, steps.length));
    await commit(query);
  });
}

const commentOn = (table: string, version: number): string =>
  `COMMENT ON TABLE ${quoted(table)} IS 'payment-gateway-sdk, version ${version}'`;

/** All migrations of a table as one script, for tools that run their own. */
export const ddlOf = (table: string, steps: readonly string[]): string =>
  [...steps, commentOn(table, steps.length)].map(step => `${withoutIndent(step)};\n`).join('');

/** SQL stands further to the right in our code than in a script. */
function withoutIndent(sql: string): string {
  const [indent = ''] = /\n *(?=\)$)/.exec(sql) ?? [];
  return indent ? sql.replaceAll(indent, '\n') : sql;
}

/** The name of an index of a table, which is in its schema. */
export const indexName = (table: string, suffix: string): string => {
  const [name = ''] = table.split('.').slice(-1);
  // Postgres cuts longer names, in silence.
  return `"${name.slice(0, 62 - suffix.length)}_${suffix}"`;
};
