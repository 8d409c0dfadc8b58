// A sandbox as a value: all its state as plain JSON.
import * as z from 'zod';
import type { WaitingCallback } from './callbacks/callbacks.ts';
import type { Delivery } from './callbacks/delivery.ts';
import type { Call, SandboxEvent } from './events.ts';
import type { Armed } from './faults/faults.ts';
import type { Entry } from './ledger/record.ts';

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
