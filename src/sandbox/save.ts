// Saves the state of a sandbox, and restores it into another one.
import { ConfigurationError } from '../errors.ts';
import { isRunning } from './log/log.ts';
import type { Parts } from './parts.ts';
import type { SavedSandbox } from './saved.ts';

export function save({ settings, ledger, callbacks, log, faults, clock }: Parts): SavedSandbox {
  const { deliveries, ...saved } = log.save();
  // The next sandbox repeats running posts.
  const running = deliveries.filter(isRunning).map(({ id, at, ...callback }) => ({
    callback: { ...callback, retries: settings.callbackRetries },
    due: clock.now(),
  }));
  return structuredClone({
    version: 1,
    payments: ledger.entries,
    waiting: [...running, ...callbacks.waiting],
    deliveries: deliveries.filter(delivery => !isRunning(delivery)),
    ...saved,
    faults: [...faults.armed],
    clockOffset: clock.offset,
  });
}

export function restore({ ledger, callbacks, log, faults, clock }: Parts, saved: SavedSandbox): void {
  try {
    const state = structuredClone(saved);
    clock.shift(state.clockOffset);
    ledger.restore(state.payments);
    log.restore(state);
    faults.restore(state.faults);
    callbacks.keep(state.waiting);
  } catch {
    throw new ConfigurationError('Sandbox: saved is damaged. Start without it, or delete its file.');
  }
}
