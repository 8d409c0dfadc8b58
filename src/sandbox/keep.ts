// Saves all state of a sandbox, and restores it into another one, for example after a restart.
import { ConfigurationError } from '../errors.ts';
import type { Parts } from './parts.ts';
import type { SavedSandbox } from './saved.ts';

export const save = ({ ledger, callbacks, history, calls, faults, clock }: Parts): SavedSandbox => ({
  version: 1,
  payments: ledger.entries,
  deliveries: callbacks.deliveries,
  waiting: callbacks.waiting,
  timelines: history.entries,
  calls: calls.kept.map(({ body, ...call }) => ({ ...call, body: Buffer.from(body).toString('base64') })),
  faults: [...faults.armed],
  clockOffset: clock.offset,
});

/** Restores the state, and posts callbacks that were running or waiting. @throws {ConfigurationError} */
export function restore(parts: Parts, saved: SavedSandbox): void {
  const { ledger, callbacks, history, calls, faults, clock } = parts;
  try {
    clock.shift(saved.clockOffset);
    ledger.restore(saved.payments);
    history.restore(saved.timelines);
    calls.restore(
      saved.calls.map(({ body, ...call }) => ({ ...call, body: new Uint8Array(Buffer.from(body, 'base64')) })),
    );
    faults.restore(saved.faults);
    callbacks.restore(saved.deliveries, saved.waiting);
  } catch {
    throw new ConfigurationError('Sandbox: saved is damaged. Start without it, or delete its file.');
  }
}
