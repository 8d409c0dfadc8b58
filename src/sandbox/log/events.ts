// The sandbox's events and calls.
import type { PaymentStatus } from '../../schemas/methods.ts';
import type { Correction } from '../api/correction.ts';
import type { SignatureCheck } from '../api/signature.ts';
import type { Delivery } from '../callbacks/delivery.ts';
import type { CallbackFault, CallFault, Fault } from '../faults/kinds.ts';

/** A call to the gateway's addresses, with its end once it has ended. */
export interface Call {
  /** A number in order of arrival, from 1. */
  id: number;
  /** Milliseconds since 1970, by the sandbox's clock. */
  at: number;
  method: string;
  /** The path with its query. */
  path: string;
  /** The headers as they arrived, with credentials masked. */
  headers: [name: string, value: string][];
  /** The exact bytes, up to 64 KiB. */
  body: Uint8Array;
  /** The length of the whole body in bytes. */
  bodyLength: number;
  /** The answer. Absent while the call runs, and after a broken connection. */
  answer?: { status: number; headers: [name: string, value: string][]; body: string; isCut: boolean } | undefined;
  /** The reason for a refusal. */
  message?: string | undefined;
  /** The problems of an accepted create that a processor would probably refuse. */
  warnings?: string[] | undefined;
  /** Absent while the call runs. */
  durationMs?: number | undefined;
  /** The injected fault. */
  fault?: CallFault | undefined;
  /** The payment that the call made or read. */
  paymentId?: string | undefined;
  /** Whether a scenario made the call, instead of the merchant. */
  isPlayed?: boolean | undefined;
  /** The signature check of a create. */
  signature?: SignatureCheck | undefined;
}

export type Happening =
  | (Pick<Call, 'method' | 'path' | 'paymentId' | 'message' | 'fault' | 'isPlayed'> & {
      type: 'request';
      /** The number of the call in `sandbox.calls`, with all details. */
      callId: number;
      /** HTTP status. Absent if a fault broke the connection. */
      status?: number | undefined;
      durationMs: number;
      /** The code that corrects a wrong signature. */
      correction?: Correction | undefined;
    })
  | {
      type: 'move';
      paymentId: string;
      reference: string | null;
      from: PaymentStatus;
      paymentStatus: PaymentStatus;
      errorMessage?: string | undefined;
      /** The paid amount, if it is not the requested one. */
      amount?: number | undefined;
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

/**
 * An event in the sandbox. `at` is in milliseconds since 1970, by the sandbox's clock. A call and a callback are reported
 * at their end, with the time of their start.
 */
export type SandboxEvent = Happening & { at: number };

/** Receives every event. Its errors have no effect. */
export type SandboxListener = (event: SandboxEvent) => unknown;
