// A sandbox as a value: all its state as plain JSON.
import type { WaitingCallback } from './callbacks/delivery.ts';
import type { Armed } from './faults/faults.ts';
import type { Entry } from './ledger/record.ts';
import type { SavedLog } from './log/log.ts';

/** The result of `sandbox.save()`: plain JSON, for the option `saved` of the next sandbox. */
export interface SavedSandbox extends SavedLog {
  version: 1;
  payments: Entry[];
  waiting: WaitingCallback[];
  faults: Armed[];
  clockOffset: number;
}

/** Whether this version saved the value. */
export const isSavedSandbox = (value: unknown): value is SavedSandbox => (value as SavedSandbox | null)?.version === 1;
