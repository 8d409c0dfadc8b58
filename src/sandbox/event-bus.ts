// What happens in the sandbox, for every listener: the command line, the dashboard, and a merchant's own tests.
import { notify } from '../events.ts';
import type { PaymentStatus } from '../schemas/methods.ts';
import type { Delivery } from './callbacks/delivery.ts';
import type { Fault } from './faults/kinds.ts';

/** Something happened in the sandbox. */
export type SandboxEvent =
  | {
      type: 'request';
      method: string;
      path: string;
      /** HTTP; absent where the connection was broken on purpose. */
      status?: number | undefined;
      durationMs: number;
      paymentId?: string | undefined;
      /** Why it was refused. */
      message?: string | undefined;
      /** The fault that was injected. */
      fault?: Fault | undefined;
    }
  | { type: 'move'; paymentId: string; reference: string | null; paymentStatus: PaymentStatus }
  /** A callback has been posted, or could not be. */
  | { type: 'callback'; delivery: Delivery }
  /** A fault was armed; without a name, all were disarmed. */
  | { type: 'fault'; fault?: Fault | undefined }
  | { type: 'reset' };

/** Gets every event. What it throws changes nothing. */
export type SandboxListener = (event: SandboxEvent) => unknown;

export class EventBus {
  readonly #listeners = new Set<SandboxListener>();

  /** @returns what ends the subscription */
  subscribe(listener: SandboxListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  emit(event: SandboxEvent): void {
    for (const listener of this.#listeners) notify(listener, event);
  }
}
