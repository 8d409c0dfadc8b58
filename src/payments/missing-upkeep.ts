// Notices that no upkeep runs: then a planned payout is never sent.
import type { Store } from '../store/contract.ts';
import { readOutage } from '../store/outage.ts';
import { Call } from '../telemetry/call.ts';
import { emitWarning } from '../telemetry/events.ts';
import type { Gateway } from './gateway.ts';

/** Milliseconds that a plan may wait. */
const PATIENCE = 600_000;
/** Milliseconds between two checks of a client. */
const BETWEEN = 60_000;

const MESSAGE =
  'A planned payout waits for more than 10 minutes, so no upkeep seems to run. Nothing was sent for it. Run gateway.upkeep({ handler, signal }) in a worker, or npx payment-gateway-sdk upkeep.';

/** Warns if a plan has waited too long, at most once a minute, and without delaying the call. */
export function checkUpkeep(gateway: Gateway): void {
  const { upkeepCheckAt = Number.POSITIVE_INFINITY, store } = gateway;
  if (!store || performance.now() < upkeepCheckAt) return;
  gateway.upkeepCheckAt = performance.now() + BETWEEN;
  warnIfMissing(gateway, store).catch(() => {});
}

async function warnIfMissing(gateway: Gateway, store: Store): Promise<void> {
  // A lease of 1 ms only looks.
  const [row] = (await store.due({ kind: 'create', states: ['planned'], olderThan: PATIENCE }, 1, 1)).rows;
  if (!row) return;
  // During an outage, upkeep itself makes the plans wait.
  const { until, now } = await readOutage(store);
  if (until > now - PATIENCE) return;
  if (!gateway.onEvent) return emitWarning(MESSAGE);
  new Call('upkeep', gateway).emit({ type: 'warning', code: 'upkeep_missing', message: MESSAGE, reference: row.id });
}
