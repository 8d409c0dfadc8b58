// The answers of the sandbox's own API, from which its description is generated.
import type { Delivery } from '../callbacks/delivery.ts';
import type { Armed } from '../faults/faults.ts';
import type { PaymentRecord } from '../ledger/record.ts';
import type { Call, SandboxEvent } from '../log/events.ts';
import type { SandboxSettings } from '../sandbox-options.ts';
import type { SCENARIOS } from '../scenarios/library.ts';
import type { Played } from '../scenarios/play.ts';
import type { Report } from '../scenarios/report.ts';

interface Page {
  /** The number on all pages. */
  total: number;
}

/** A call of the gateway, with its body as text. */
export interface ShownCall extends Omit<Call, 'body'> {
  body: string;
  /** The exact bytes, up to 64 KiB. */
  bodyBase64: string;
}

export interface ShownClock {
  /** Milliseconds since 1970. */
  now: number;
  /** The same as a date, in UTC. */
  iso: string;
  /** How far it was moved, in milliseconds. */
  offset: number;
}

/** The JSON answers by the name of their route. */
export interface Answers {
  listPayments: Page & { payments: readonly PaymentRecord[] };
  getPayment: {
    payment: PaymentRecord;
    /** The merchant's request. */
    request: object;
    /** The payment's own address for callbacks. */
    callbackUrl: string;
    /** The address that they are posted to, if it is another one. */
    postedTo?: string;
    /** The events of the payment, the oldest first. */
    timeline: readonly SandboxEvent[];
  };
  movePayment: PaymentRecord;
  waitForPayment: PaymentRecord;
  listDeliveries: Page & { deliveries: readonly Delivery[] };
  redeliver: Delivery;
  waitUntilIdle: {
    /** The number of deliveries. */
    deliveries: number;
  };
  listScenarios: { scenarios: typeof SCENARIOS };
  playScenario: Played;
  playOwnScenario: Played;
  testServer: Report;
  listCalls: Page & { calls: readonly ShownCall[] };
  getCall: ShownCall;
  listFaults: { faults: readonly Armed[] };
  armFault: Armed;
  getInfo: Pick<SandboxSettings, 'apiKey' | 'signKey' | 'signatureEncoding' | 'terminal'> & {
    /** The address of the sandbox. */
    baseUrl: string;
    /** Lines for the .env of an app. */
    environment: readonly string[];
  };
  getClock: ShownClock;
  moveClock: ShownClock;
}
