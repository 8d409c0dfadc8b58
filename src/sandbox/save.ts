// Saves all state of a sandbox, and restores it into another one, for example after a restart.
import { ConfigurationError } from '../errors.ts';
import type { Parts } from './parts.ts';
import type { SavedSandbox } from './saved.ts';

export function save({ ledger, callbacks, log, faults, clock }: Parts): SavedSandbox {
  return structuredClone({
    version: 1,
    payments: ledger.entries,
    waiting: callbacks.waiting,
    ...log.save(),
    faults: [...faults.armed],
    clockOffset: clock.offset,
  });
}

/** Restores the state, and posts callbacks that were running or waiting. @throws {ConfigurationError} */
export function restore({ ledger, callbacks, log, faults, clock }: Parts, saved: SavedSandbox): void {
  try {
    const state = structuredClone(saved);
    clock.shift(state.clockOffset);
    ledger.restore(state.payments);
    log.restore(state);
    faults.restore(state.faults);
    callbacks.restore(state.waiting);
  } catch {
    throw new ConfigurationError('Sandbox: saved is damaged. Start without it, or delete its file.');
  }
}
