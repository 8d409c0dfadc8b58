// The state of a sandbox as plain JSON.
import type { WaitingCallback } from './callbacks/delivery.ts';
import type { Armed } from './faults/faults.ts';
import type { Entry } from './ledger/record.ts';
import type { SavedLog } from './log/log.ts';

/** The result of `sandbox.save()` as plain JSON, for the option `saved`. */
export interface SavedSandbox extends SavedLog {
  version: 1;
  payments: Entry[];
  waiting: WaitingCallback[];
  faults: Armed[];
  clockOffset: number;
}

export const isSavedSandbox = (value: unknown): value is SavedSandbox => (value as SavedSandbox | null)?.version === 1;
