// Listens to a channel of Postgres, on one connection of a pool for all who do.
import { aborted, withSignal } from '../deadline.ts';
import { sizeOf } from '../sql/database.ts';
import { connect, type PgClient, type PgPool } from './pg.ts';

/** What else a client of `pg` emits. */
interface Emitter {
  on(event: string, listener: (error?: Error) => void): unknown;
  removeListener(event: string, listener: (error?: Error) => void): unknown;
}

/** A connection that listens. */
interface Listening {
  readonly heard: Set<() => void>;
  /** Rejects when nothing is heard any more. */
  readonly isLost: Promise<void>;
  readonly stop: AbortController;
}

/** By pool and channel. */
const LISTENING = new WeakMap<PgPool, Map<string, Listening>>();

/** Fewer connections leave none for a merchant, while an inbox has half of them. */
const SMALLEST_POOL = 4;

/** @throws what the driver throws, as soon as nothing is heard any more */
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
  // Each of those who listen has a function of its own.
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
  // Whoever listens then is told.
  isLost.catch(() => {});
  return { heard, isLost, stop };
}

/** Holds a connection until the signal, or until it is lost. */
async function hold(pool: PgPool, channel: string, onNotice: () => void, signal: AbortSignal): Promise<void> {
  const connecting = connect(pool);
  const client = await withSignal(connecting, signal).catch(error => {
    // It may come later.
    connecting.then(late => late.release()).catch(() => {});
    throw error;
  });
  const { promise: isLost, reject } = Promise.withResolvers<void>();
  // It may be lost before anybody waits for that.
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
    // What ends it may come after that, and must not end the process. Nobody gets a connection that listens.
    emitter.on('error', () => {});
    client.release(true);
  }
}
