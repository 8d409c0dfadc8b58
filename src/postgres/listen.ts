// Listens to a channel of Postgres, on one connection of a pool for all listeners.
import { aborted, withSignal } from '../deadline.ts';
import { sizeOf } from '../sql/database.ts';
import { connect, type PgClient, type PgPool } from './pg.ts';

/** Further events of a client of `pg`. */
interface Emitter {
  on(event: string, listener: (error?: Error) => void): unknown;
  removeListener(event: string, listener: (error?: Error) => void): unknown;
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
  const channels = LISTENING.get(pool) ?? new Map<string, Listening>();
  LISTENING.set(pool, channels);
  const listening = channels.get(channel) ?? begin(pool, channel);
  channels.set(channel, listening);
  const forget = () => channels.get(channel) === listening && channels.delete(channel);
  // A separate function for each listener, because the same one may listen twice.
  const hear = () => onNotice();
  listening.heard.add(hear);
  try {
    await withSignal(listening.isLost, signal);
  } catch (error) {
    if (signal.aborted) return;
    forget();
    throw error;
  } finally {
    listening.heard.delete(hear);
    if (listening.heard.size === 0) {
      forget();
      listening.stop.abort();
    }
  }
}

function begin(pool: PgPool, channel: string): Listening {
  const heard = new Set<() => void>();
  const stop = new AbortController();
  const isLost = hold(pool, channel, () => heard.forEach(hear => void hear()), stop.signal);
  // Every listener waits for this promise, and gets the error.
  isLost.catch(() => {});
  return { heard, isLost, stop };
}

/** Keeps a connection until the signal, or until it is lost. */
async function hold(pool: PgPool, channel: string, onNotice: () => void, signal: AbortSignal): Promise<void> {
  const connecting = connect(pool);
  const client = await withSignal(connecting, signal).catch(error => {
    // The connection may arrive later.
    connecting.then(late => late.release()).catch(() => {});
    throw error;
  });
  const { promise: isLost, reject } = Promise.withResolvers<void>();
  // The connection may be lost before the wait for that begins.
  isLost.catch(() => {});
  const onLost = (error = new Error('The connection that listens has ended.')) => reject(error);
  const emitter = client as PgClient & Emitter;
  const listeners = { notification: onNotice, error: onLost, end: onLost };
  for (const [event, listener] of Object.entries(listeners)) emitter.on(event, listener);
  try {
    await withSignal(client.query(`LISTEN "${channel}"`), signal);
    await withSignal(isLost, signal);
  } finally {
    for (const [event, listener] of Object.entries(listeners)) emitter.removeListener(event, listener);
    // A later error must not end the process. Closing keeps a listening connection out of the pool.
    emitter.on('error', () => {});
    client.release(true);
  }
}
