// Saves all state of a sandbox, and restores it into another one, for example after a restart.
import { ConfigurationError } from '../errors.ts';
import { isRunning } from './log/log.ts';
import type { Parts } from './parts.ts';
import type { SavedSandbox } from './saved.ts';

export function save({ settings, ledger, callbacks, log, faults, clock }: Parts): SavedSandbox {
  const { deliveries, ...saved } = log.save();
  const { callbackRetries: retries } = settings;
  const due = clock.now();
  // Running posts are repeated in the next sandbox.
  const running = deliveries
    .filter(isRunning)
    .map(({ id, at, ...callback }) => ({ callback: { ...callback, retries }, due }));
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

/** @throws {ConfigurationError} */
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
