// Stops the sending of payouts in every replica while the gateway seems unreachable.
import type { Store, StoreRow } from './contract.ts';

const NEW: StoreRow = { kind: 'gateway', id: 'outage', state: 'outage', revision: 0, begunAt: 0, data: {} };

/** Milliseconds, doubled each time. */
const FIRST_PAUSE = 60_000;
const LONGEST_PAUSE = 900_000;

/** The pause of sending in the store. Times are milliseconds by the store's clock. */
export interface Outage {
  /** End of the pause. After it, one replica tests the gateway. 0 once the gateway has accepted a payout. */
  until: number;
  /** Length of the last pause after an unknown outcome. */
  pauseMs: number;
  now: number;
  row: StoreRow;
}

export async function readOutage(store: Store): Promise<Outage> {
  const { row = NEW, now } = await store.read(NEW);
  return { until: 0, pauseMs: 0, ...row.data, now, row };
}

/**
 * Stops sending for the time that the gateway asked for. An unknown outcome, or a test of the gateway, doubles the last
 * pause, unless that still lasts.
 *
 * @returns the row of the pause, or undefined if that of another replica counts, which has written at the same time
 */
export async function pauseSending(
  store: Store,
  { asked = 0, isUnknown = true },
  outage?: Outage,
): Promise<StoreRow | undefined> {
  const { row, now, ...last } = outage ?? (await readOutage(store));
  const isLonger = isUnknown && last.until <= now;
  const pauseMs = isLonger ? Math.min(Math.max(2 * last.pauseMs, FIRST_PAUSE), LONGEST_PAUSE) : last.pauseMs;
  const until = Math.max(last.until, now + asked, isLonger ? now + pauseMs : 0);
  const paused = await store.write({ ...row, data: { until, pauseMs } });
  return paused.isWritten ? paused.row : undefined;
}
