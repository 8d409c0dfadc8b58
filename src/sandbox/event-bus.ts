// What happens in the sandbox, for every listener: the command line, the dashboard, and a merchant's own tests.

import type { PaymentStatus } from '../schemas/methods.ts';
import { notify } from '../telemetry/events.ts';
import type { Delivery } from './callbacks/delivery.ts';
import type { CallbackFault, Fault } from './faults/kinds.ts';

/** What happened, without its time. */
export type Happening =
  | {
      type: 'request';
      /** `sandbox.calls` has the whole of it. */
      callId: number;
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
      /** Made by a scenario, and not by the merchant. */
      isPlayed?: boolean | undefined;
    }
  | {
      type: 'move';
      paymentId: string;
      reference: string | null;
      from: PaymentStatus;
      paymentStatus: PaymentStatus;
      errorMessage?: string | undefined;
    }
  /** A callback is held back, or waits for its time. */
  | {
      type: 'callback-waits';
      paymentId: string;
      paymentStatus: string;
      /** Milliseconds since 1970; absent while it waits for the next callback of its payment. */
      due?: number | undefined;
      /** The fault that holds it back; absent for a repetition. */
      fault?: CallbackFault | undefined;
    }
  /** A callback has been posted, or could not be. */
  | { type: 'callback'; delivery: Delivery }
  /** A fault was armed, or disarmed; without a name, all were disarmed. */
  | { type: 'fault'; fault?: Fault | undefined; isDisarmed?: boolean | undefined }
  | { type: 'clock'; offset: number }
  /** A scenario has been played to its end. */
  | { type: 'scenario'; paymentId: string; name: string; problems: string[] }
  | { type: 'reset' };

/** Something happened in the sandbox: `at` is in milliseconds since 1970, by the sandbox's clock. */
export type SandboxEvent = Happening & { at: number };

/** Gets every event. What it throws changes nothing. */
export type SandboxListener = (event: SandboxEvent) => unknown;

export class EventBus {
  readonly #listeners = new Set<SandboxListener>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @returns what ends the subscription */
  subscribe(listener: SandboxListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Of now, unless it says otherwise. */
  emit(happening: Happening & { at?: number }): void {
    const event = { at: this.#now(), ...happening };
    for (const listener of this.#listeners) notify(listener, event);
  }
}
