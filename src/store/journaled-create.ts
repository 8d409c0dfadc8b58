// The parts of a create that the store needs.
import type { Deadline } from '../deadline.ts';
import type { GatewayError } from '../errors.ts';
import type { Payment } from '../schemas/payment.ts';
import type { Envelope } from '../schemas/response.ts';
import type { JournalRow } from './creates.ts';
import type { Recordable } from './fingerprint.ts';
import type { ClientJournal } from './reports.ts';

/** A create that the gateway has accepted. */
export interface Accepted {
  created: Envelope;
  /** Makes the error for an answer with the payment of another create. */
  anothers(reference: string | undefined): GatewayError;
}

/** The input of a create with a reference. */
export interface JournaledCreate extends ClientJournal {
  request: Recordable & { reference: string };
  /** All sent fields, as plain data. */
  fields: object;
  /** Milliseconds for the whole create. */
  timeout: number;
  signal?: AbortSignal | undefined;
  /** The order that it is an attempt of. */
  order?: string | undefined;
  /** The claimed plan: the create sends only this plan. */
  plan?: JournalRow | undefined;
  /** Called after the gateway has refused a plan. @returns whether it is planned again anyway */
  onPlanRefused?: (() => boolean) | undefined;
  /** Sends the create, but never after the deadline. The signal ends the wait for its answer. */
  send(deadline: Deadline, signal: AbortSignal): Promise<Accepted>;
  lookUp(paymentId: string, limits: { timeout: number; signal?: AbortSignal | undefined }): Promise<Payment>;
}
