// The parts of a sandbox that its API, pages and scenarios share.
import type { Callbacks } from './callbacks/callbacks.ts';
import type { Clock } from './clock.ts';
import type { Faults } from './faults/faults.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { Log } from './log/log.ts';
import type { SandboxSettings } from './sandbox-options.ts';

export interface Parts {
  settings: SandboxSettings;
  clock: Clock;
  ledger: Ledger;
  callbacks: Callbacks;
  faults: Faults;
  log: Log;
  reset(): void;
}
