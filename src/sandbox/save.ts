// Saves all state of a sandbox as plain JSON, and restores it into another one, for example after a restart.
import * as z from 'zod';
import { ConfigurationError } from '../errors.ts';
import type { WaitingCallback } from './callbacks/callbacks.ts';
import type { Delivery } from './callbacks/delivery.ts';
import type { Call, SandboxEvent } from './events.ts';
import type { Armed } from './faults/faults.ts';
import type { Entry } from './ledger/record.ts';
import type { Parts } from './parts.ts';

/** The call with its bytes as text, because JSON has no bytes. */
type SavedCall = Omit<Call, 'body'> & { body: string };

/** The result of `sandbox.save()`: plain JSON, for the option `saved` of the next sandbox. */
export interface SavedSandbox {
  version: 1;
  payments: Entry[];
  deliveries: Delivery[];
  waiting: WaitingCallback[];
  timelines: [paymentId: string, events: SandboxEvent[]][];
  calls: SavedCall[];
  faults: Armed[];
  clockOffset: number;
}

const list = z.array(z.unknown());
const savedSchema = z.object({
  version: z.literal(1),
  payments: list,
  deliveries: list,
  waiting: list,
  timelines: list,
  calls: list,
  faults: list,
  clockOffset: z.number(),
});

/** Whether this version saved the value. The parts are internal, so they are not checked one by one. */
export const isSavedSandbox = (value: unknown): value is SavedSandbox => savedSchema.safeParse(value).success;

export const save = ({ ledger, callbacks, log, faults, clock }: Parts): SavedSandbox =>
  structuredClone({
    version: 1,
    payments: ledger.entries,
    deliveries: log.deliveries.all,
    waiting: callbacks.waiting,
    timelines: log.timelines,
    calls: log.keptCalls.map(({ body, ...call }) => ({ ...call, body: Buffer.from(body).toString('base64') })),
    faults: [...faults.armed],
    clockOffset: clock.offset,
  });

/** Restores the state, and posts callbacks that were running or waiting. @throws {ConfigurationError} */
export function restore({ ledger, callbacks, log, faults, clock }: Parts, saved: SavedSandbox): void {
  try {
    const { calls, deliveries, timelines, waiting } = structuredClone(saved);
    const bodyOf = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'));
    clock.shift(saved.clockOffset);
    ledger.restore(saved.payments);
    log.restore(
      calls.map(({ body, ...call }) => ({ ...call, body: bodyOf(body) })),
      deliveries,
      timelines,
    );
    faults.restore(saved.faults);
    callbacks.restore(waiting);
  } catch {
    throw new ConfigurationError('Sandbox: saved is damaged. Start without it, or delete its file.');
  }
}
