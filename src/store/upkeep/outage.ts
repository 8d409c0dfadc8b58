// Stops the sending of payouts in every replica while the gateway seems unreachable.
import type { Store, StoreRow, Written } from '../contract.ts';

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

/** Stops sending. An unknown outcome doubles the last pause, unless that still lasts. */
export async function pauseSending(
  store: Store,
  { asked, isUnknown = false }: { asked: number; isUnknown?: boolean },
): Promise<void> {
  const outage = await readOutage(store);
  const { now, until, pauseMs } = isUnknown && outage.until <= outage.now ? longer(outage) : outage;
  await write(store, { ...outage, until: Math.max(until, now + asked), pauseMs });
}

/** Reserves the test of the gateway for one replica: the next pause holds up the others. @returns undefined if it has lost */
export async function holdOutage(store: Store, outage: Outage): Promise<Outage | undefined> {
  const next = longer(outage);
  const { isWritten, row } = await write(store, next);
  return isWritten && row ? { ...next, row } : undefined;
}

/** Ends the pause of every replica: the gateway has accepted a payout. */
export async function endOutage(store: Store): Promise<void> {
  const outage = await readOutage(store);
  if (outage.until > 0) await write(store, { ...outage, until: 0, pauseMs: 0 });
}

/** If another replica has written at the same time, its pause counts. */
const write = (store: Store, { row, until, pauseMs }: Outage): Promise<Written> =>
  store.write({ ...row, data: { until, pauseMs } });

function longer(outage: Outage): Outage {
  const pauseMs = Math.min(Math.max(2 * outage.pauseMs, FIRST_PAUSE), LONGEST_PAUSE);
  return { ...outage, until: outage.now + pauseMs, pauseMs };
}
