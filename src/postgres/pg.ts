// A pool of `pg` by its shape, and the way to borrow a client from it.
import { leftOpen } from '../sql/errors.ts';

/** A client of a `pg` pool, by shape. */
export interface PgClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[]; command: string; rowCount?: number | null }>;
  release(destroy?: boolean | Error): void;
  /** `T` or `E` within a transaction, `I` outside. Older versions of `pg` lack it. */
  getTransactionStatus?(): string | null;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

/** A `pg` pool, by shape. */
export interface PgPool {
  connect(): Promise<PgClient>;
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  /** `max` is the size of the pool, by default 10 as in `pg`. */
  options?: { max?: number | undefined };
}

/** A transaction over a pool of `pg`. It has only `query`, until the effect ends. */
export type PgTx = Pick<PgClient, 'query'>;

/** `PgTx` with the types of the pool's clients, also if `connect` has an overload for a callback. */
export type TxOfPool<Pool> = Pool extends {
  connect: { (): Promise<infer Client extends PgClient>; (...args: never[]): unknown };
}
  ? Pick<Client, 'query'>
  : PgTx;

export const isOpen = (status?: string | null) => status === 'T' || status === 'E';

/**
 * Borrows a client. Until its release, a connection that breaks does not end the process.
 *
 * @throws {ConfigurationError} for a client that other code left in a transaction, after closing it
 */
export async function lend(pool: PgPool) {
  const client = await pool.connect();
  client.on('error', ignore);
  const release = (isBroken: boolean) => {
    client.removeListener('error', ignore);
    client.release(isBroken);
  };
  if (!isOpen(client.getTransactionStatus?.())) return { client, release };
  release(true);
  throw leftOpen();
}

const ignore = () => {};
