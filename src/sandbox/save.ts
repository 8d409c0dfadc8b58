// Saves all state of a sandbox as plain JSON, and restores it into another one, for example after a restart.
import * as z from 'zod';
import { ConfigurationError } from '../errors.ts';
import type { WaitingCallback } from './callbacks/callbacks.ts';
import type { Call } from './events.ts';
import type { Armed } from './faults/faults.ts';
import type { Entry } from './ledger/record.ts';
import type { SavedLog } from './log.ts';
import type { Parts } from './parts.ts';

/** The result of `sandbox.save()`: plain JSON, for the option `saved` of the next sandbox. */
export interface SavedSandbox extends Omit<SavedLog, 'calls'> {
  version: 1;
  payments: Entry[];
  waiting: WaitingCallback[];
  /** The bodies are in base64, because JSON has no bytes. */
  calls: (Omit<Call, 'body'> & { body: string })[];
  faults: Armed[];
  clockOffset: number;
}

const list = z.array(z.unknown());
const LISTS = { payments: list, waiting: list, calls: list, deliveries: list, events: list, timelines: list };
const savedSchema = z.object({ version: z.literal(1), ...LISTS, faults: list, clockOffset: z.number() });

/** Whether this version saved the value. The parts are internal, so they are not checked one by one. */
export const isSavedSandbox = (value: unknown): value is SavedSandbox => savedSchema.safeParse(value).success;

export function save({ ledger, callbacks, log, faults, clock }: Parts): SavedSandbox {
  const { calls, ...logged } = log.save();
  return structuredClone({
    version: 1,
    payments: ledger.entries,
    waiting: callbacks.waiting,
    ...logged,
    calls: calls.map(({ body, ...call }) => ({ ...call, body: Buffer.from(body).toString('base64') })),
    faults: [...faults.armed],
    clockOffset: clock.offset,
  });
}

/** Restores the state, and posts callbacks that were running or waiting. @throws {ConfigurationError} */
export function restore({ ledger, callbacks, log, faults, clock }: Parts, saved: SavedSandbox): void {
  try {
    const { calls, ...state } = structuredClone(saved);
    const bodyOf = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'));
    clock.shift(state.clockOffset);
    ledger.restore(state.payments);
    log.restore({ ...state, calls: calls.map(({ body, ...call }) => ({ ...call, body: bodyOf(body) })) });
    faults.restore(state.faults);
    callbacks.restore(state.waiting);
  } catch {
    throw new ConfigurationError('Sandbox: saved is damaged. Start without it, or delete its file.');
  }
}
