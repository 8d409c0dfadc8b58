// Distributes the sandbox's events to the command line, the dashboard and a merchant's own tests.

import type { PaymentStatus } from '../schemas/methods.ts';
import { notify } from '../telemetry/events.ts';
import type { Delivery } from './callbacks/delivery.ts';
import type { CallbackFault, Fault } from './faults/kinds.ts';

/** An event without its time. */
export type Happening =
  | {
      type: 'request';
      /** The number of the call in `sandbox.calls`, with all details. */
      callId: number;
      method: string;
      path: string;
      /** HTTP status. Absent if a fault broke the connection. */
      status?: number | undefined;
      durationMs: number;
      paymentId?: string | undefined;
      /** The reason for a refusal. */
      message?: string | undefined;
      /** The injected fault. */
      fault?: Fault | undefined;
      /** Whether a scenario made the call, instead of the merchant. */
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
  /** A callback is held back or waits for its time. */
  | {
      type: 'callback-waits';
      paymentId: string;
      paymentStatus: string;
      /** Milliseconds since 1970. Absent while it waits for the next callback of its payment. */
      due?: number | undefined;
      /** The fault that holds it back. Absent for a repetition. */
      fault?: CallbackFault | undefined;
    }
  /** A callback was posted, or posting it failed. */
  | { type: 'callback'; delivery: Delivery }
  /** A fault was armed or disarmed. Without a name, all faults were disarmed. */
  | { type: 'fault'; fault?: Fault | undefined; isDisarmed?: boolean | undefined }
  | { type: 'clock'; offset: number }
  /** A scenario was played to its end. */
  | { type: 'scenario'; paymentId: string; name: string; problems: string[] }
  | { type: 'reset' };

/** An event in the sandbox. `at` is in milliseconds since 1970, by the sandbox's clock. */
export type SandboxEvent = Happening & { at: number };

/** Receives every event. Its errors have no effect. */
export type SandboxListener = (event: SandboxEvent) => unknown;

export class EventBus {
  readonly #listeners = new Set<SandboxListener>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @returns a function that unsubscribes */
  subscribe(listener: SandboxListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Emits an event, dated now unless it has a time. */
  emit(happening: Happening & { at?: number }): void {
    const event = { at: this.#now(), ...happening };
    for (const listener of this.#listeners) notify(listener, event);
  }
}
