// The parts of a sandbox that its API, pages and scenarios share.
import type { CallbackParts, Callbacks } from './callbacks/callbacks.ts';
import type { Ledger } from './ledger/ledger.ts';

export interface Parts extends CallbackParts {
  ledger: Ledger;
  callbacks: Callbacks;
  reset(): void;
}
