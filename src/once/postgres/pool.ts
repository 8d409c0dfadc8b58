// What we need of the merchant's own `pg` pool, by shape, and how we take from it without starving the merchant.
import { createHash } from 'node:crypto';
import { ConfigurationError } from '../../errors.ts';
import { limit } from '../../limit.ts';
import { inTime } from '../../time.ts';

/** A client of a pool, as of `pg`. */
export interface PgClient {
  query(
    text: string,
    values?: unknown[],
  ): Promise<{ rows: unknown[]; command: string; rowCount?: number | null }>;
  release(destroy?: boolean | Error): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

/** A pool, as of `pg`. */
export interface PgPool {
  connect(): Promise<PgClient>;
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  /** `max` is the size of the pool; 10 if it is not told, as in `pg`. */
  options?: { max?: number | undefined };
}

/** The clients of a pool, also where `connect` has an overload that takes a callback. */
export type ClientOf<Pool> = Pool extends {
  connect: { (): Promise<infer Client>; (...args: never[]): unknown };
}
  ? Client
  : PgClient;

/** @throws {ConfigurationError} for what is no pool: in a client's transaction, what we commit could be rolled back */
export function checkPool(whose: string, pool: PgPool): void {
  const { connect, query, release } = (pool ?? {}) as unknown as Record<string, unknown>;
  if (typeof connect === 'function' && typeof query === 'function' && release === undefined) return;
  throw new ConfigurationError(`${whose} takes the pool itself, such as new pg.Pool(), and no client of it.`);
}

/** Milliseconds to wait for a client of the pool. */
const LONGEST_WAIT = 5_000;

/**
 * Lends clients of the pool, at most half of them at a time: the merchant's code inside the loan may want others.
 *
 * @throws {ConfigurationError} for a pool of one client
 */
export function lender<Client extends PgClient>(
  pool: PgPool,
): <T>(work: (client: Client) => Promise<T>) => Promise<T> {
  const { max = 10 } = pool.options ?? {};
  if (max < 2) {
    throw new ConfigurationError(
      'The pool needs two clients or more: with one, onPayment could wait for itself for ever.',
    );
  }
  const loans = limit(Math.floor(max / 2));
  return work =>
    loans(async () => {
      const client = (await checkOut(pool)) as Client;
      let broken: Error | undefined;
      // A connection that breaks between two queries is an event, and without a listener the end of the process.
      const onError = (error: Error) => {
        broken = error;
      };
      client.on('error', onError);
      try {
        return await work(client);
      } catch (error) {
        await client.query('ROLLBACK').catch((failure: Error) => {
          broken ??= failure;
        });
        throw error;
      } finally {
        client.removeListener('error', onError);
        client.release(broken);
      }
    });
}

function checkOut(pool: PgPool): Promise<PgClient> {
  let late = false;
  const connecting = pool.connect();
  connecting.then(client => late && client.release()).catch(() => {});
  return inTime(connecting, LONGEST_WAIT, () => {
    late = true;
    throw new Error(
      `The pool had no client within ${LONGEST_WAIT} ms: make it larger, or onPayment quicker.`,
    );
  });
}

/** @throws Error if the transaction was rolled back instead: COMMIT answers so, without an error. */
export async function commit(client: PgClient): Promise<void> {
  const { command } = await client.query('COMMIT');
  if (command !== 'COMMIT') throw new Error(`COMMIT answered ${command}: the transaction was rolled back.`);
}

/** A table's name as SQL, with its schema if it has one. */
export function identifier(table: string): string {
  if (!/^[a-z_][a-z\d_]*(\.[a-z_][a-z\d_]*)?$/i.test(table)) {
    throw new ConfigurationError('table must be a plain name such as payment_gateway_inbox, or schema.name.');
  }
  return table
    .split('.')
    .map(part => `"${part}"`)
    .join('.');
}

/** The key of an advisory lock: 64 bits of a hash, as text, because a number would lose some of them. */
export const lockKey = (name: string): string =>
  createHash('sha256').update(name).digest().readBigInt64BE().toString();

/** Runs DDL once at a time: `create table if not exists` fails when two run it together. */
export async function migrate(pool: PgPool, table: string, ddl: string): Promise<void> {
  await lender(pool)(async client => {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1::bigint)', [lockKey(`migrate ${table}`)]);
    await client.query(ddl);
    await commit(client);
  });
}
