// A sandbox as a value: all its state as plain JSON.
import * as z from 'zod';
import type { WaitingCallback } from './callbacks/delivery.ts';
import type { Armed } from './faults/faults.ts';
import type { Entry } from './ledger/record.ts';
import type { SavedLog } from './log.ts';

/** The result of `sandbox.save()`: plain JSON, for the option `saved` of the next sandbox. */
export interface SavedSandbox extends SavedLog {
  version: 1;
  payments: Entry[];
  waiting: WaitingCallback[];
  faults: Armed[];
  clockOffset: number;
}

const list = z.array(z.unknown());
const LISTS = { payments: list, waiting: list, calls: list, deliveries: list, events: list };
const savedSchema = z.object({ version: z.literal(1), ...LISTS, faults: list, clockOffset: z.number() });

/** Whether this version saved the value. The parts are internal, so they are not checked one by one. */
export const isSavedSandbox = (value: unknown): value is SavedSandbox => savedSchema.safeParse(value).success;
