// Stops the sending of payouts in every replica while the gateway seems unreachable.
import { bounded } from './change.ts';
import type { Store, StoreRow } from './contract.ts';

const KEY = { kind: 'gateway', id: 'outage' } as const;

/** Milliseconds. Each pause is twice as long as the one before. */
const FIRST_PAUSE = 60_000;
const LONGEST_PAUSE = 900_000;

/** The pause in the store. Times are milliseconds by the store's clock. */
interface Pause {
  until: number;
  /** Length of the last pause after an unknown outcome. */
  pauseMs: number;
}

/** Whether payouts may be sent. */
export interface Outage {
  isPaused: boolean;
  /** Milliseconds until the pause ends, or a negative number after its end. */
  left: number;
  /** The revision of the pause in the store. */
  revision: number;
}

const RUNNING: Outage = { isPaused: false, left: 0, revision: 0 };

/** The row of a scope without an outage so far. */
const NEW: StoreRow = { ...KEY, state: 'running', revision: 0, begunAt: 0, data: {} };

export async function readOutage(store: Store): Promise<Outage> {
  const { row, now } = await bounded(store.read(KEY));
  if (row?.state !== 'paused') return RUNNING;
  return { isPaused: true, left: (row.data as Pause).until - now, revision: row.revision };
}

/**
 * Stops sending after an unknown outcome, for twice as long as last time. A pause that has not ended stays unchanged.
 *
 * @param asked milliseconds that the gateway asked to wait
 * @returns milliseconds to wait
 */
export const pauseSending = (store: Store, asked: number): Promise<number> =>
  extend(store, asked, (pause, now) => (pause.until > now ? pause : longer(pause, now)));

/** Stops sending for the time that the gateway asked for. @returns milliseconds to wait */
export const waitAsAsked = (store: Store, asked: number): Promise<number> => extend(store, asked, pause => pause);

async function extend(store: Store, asked: number, next: (pause: Pause, now: number) => Pause): Promise<number> {
  const { row = NEW, now } = await bounded(store.read(KEY));
  const { until, pauseMs } = next(pauseIn(row), now);
  const data: Pause = { until: Math.max(until, now + asked), pauseMs };
  // If another replica has written at the same time, its pause counts.
  await bounded(store.write({ ...row, state: 'paused', data }));
  return data.until - now;
}

/**
 * Reserves the test of the gateway after the pause for one replica. It begins the next pause, which holds up the other replicas.
 *
 * @returns the outage held by this replica, or undefined if another replica was faster
 */
export async function holdOutage(store: Store, { revision }: Outage): Promise<Outage | undefined> {
  const { row, now } = await bounded(store.read(KEY));
  if (row?.revision !== revision) return undefined;
  const data = longer(pauseIn(row), now);
  const { isWritten } = await bounded(store.write({ ...row, data }));
  return isWritten ? { isPaused: true, left: data.until - now, revision: revision + 1 } : undefined;
}

/** Ends the pause of every replica: the gateway has accepted a payout. */
export async function endOutage(store: Store): Promise<void> {
  const { row } = await bounded(store.read(KEY));
  if (row?.state === 'paused') await bounded(store.write({ ...row, state: 'running', data: {} }));
}

const pauseIn = ({ state, data }: StoreRow): Pause => (state === 'paused' ? (data as Pause) : { until: 0, pauseMs: 0 });

function longer({ pauseMs }: Pause, now: number): Pause {
  const next = Math.min(Math.max(2 * pauseMs, FIRST_PAUSE), LONGEST_PAUSE);
  return { until: now + next, pauseMs: next };
}
