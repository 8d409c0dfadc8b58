// A sandbox as a value: everything that it holds, to be written to a file and opened again after a restart.
import * as z from 'zod';
import { ConfigurationError } from '../errors.ts';
import type { Call } from './api/call-log.ts';
import type { WaitingCallback } from './callbacks/callbacks.ts';
import type { Delivery } from './callbacks/delivery.ts';
import type { SandboxEvent } from './event-bus.ts';
import type { Armed } from './faults/faults.ts';
import type { Entry } from './ledger/ledger.ts';
import type { Parts } from './parts.ts';

/** Bodies are bytes, which JSON has not. */
type SavedCall = Omit<Call, 'body'> & { body: string };

/** What `sandbox.save()` gives: plain JSON, for the option `saved` of the next sandbox. */
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

/** What was saved by this version. Its parts are its own and are not checked one by one. */
export const isSavedSandbox = (value: unknown): value is SavedSandbox => savedSchema.safeParse(value).success;

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

/** Callbacks that were under way or waited for their time are posted. @throws {ConfigurationError} */
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
