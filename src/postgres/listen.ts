// Listens to a channel of Postgres, on one connection of a pool for all listeners.
import { aborted, withSignal } from '../deadline.ts';
import { sizeOf } from '../sql/database.ts';
import { connect, type PgClient, type PgPool } from './pg.ts';

/** Further events of a client of `pg`. */
interface Emitter {
  on(event: string, listener: (error?: Error) => void): unknown;
}

/** A connection that listens. */
interface Listening {
  readonly heard: Set<() => void>;
  /** Rejects when the connection is lost. */
  readonly isLost: Promise<void>;
  readonly stop: AbortController;
}

/** By pool and channel. */
const LISTENING = new WeakMap<PgPool, Map<string, Listening>>();

/** Smaller pools leave no connection for the merchant while effects use half of them. */
const SMALLEST_POOL = 4;

/** @throws the driver's error, as soon as the connection is lost */
export async function listenOn(
  pool: PgPool,
  channel: string,
  onNotice: () => void,
  signal: AbortSignal,
): Promise<void> {
  if (sizeOf(pool.options?.max) < SMALLEST_POOL) return aborted(signal);
  const { heard, isLost, stop } = listeningOn(pool, channel);
  // A separate function for each listener, because the same one may listen twice.
  const hear = () => onNotice();
  heard.add(hear);
  try {
    await withSignal(isLost, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    heard.delete(hear);
    if (heard.size === 0) stop.abort();
  }
}

function listeningOn(pool: PgPool, channel: string): Listening {
  const channels = LISTENING.get(pool) ?? new Map<string, Listening>();
  LISTENING.set(pool, channels);
  const known = channels.get(channel);
  if (known && !known.stop.signal.aborted) return known;
  const heard = new Set<() => void>();
  const stop = new AbortController();
  const isLost = hold(pool, channel, () => heard.forEach(hear => void hear()), stop.signal);
  const listening = { heard, isLost, stop };
  channels.set(channel, listening);
  // Every listener waits for this promise, and gets the error.
  isLost.catch(() => stop.abort());
  return listening;
}

/** Keeps a connection until the signal, or until it is lost. */
async function hold(pool: PgPool, channel: string, onNotice: () => void, signal: AbortSignal): Promise<void> {
  const connecting = connect(pool);
  const client: PgClient & Emitter = await withSignal(connecting, signal).catch(error => {
    // The connection may arrive later.
    connecting.then(late => late.release()).catch(() => {});
    throw error;
  });
  const isLost = new Promise<never>((_, reject) => {
    const onLost = (error = new Error('The connection that listens has ended.')) => reject(error);
    client.on('notification', onNotice);
    for (const event of ['error', 'end']) client.on(event, onLost);
  });
  try {
    const listening = client.query(`LISTEN "${channel}"`).then(() => isLost);
    await withSignal(Promise.race([isLost, listening]), signal);
  } finally {
    // Closing keeps it out of the pool. Its listeners stay, because a later error without one would end the process.
    client.release(true);
  }
}
