// The parts of a create that the journal needs.
import type { Deadline } from '../deadline.ts';
import type { Payment } from '../schemas/payment.ts';
import type { Envelope } from '../schemas/response.ts';
import type { JournalRow } from './contract.ts';
import type { Recordable } from './fingerprint.ts';
import type { ClientJournal } from './reports.ts';

/** The input of a create with a reference. */
export interface JournaledCreate extends ClientJournal {
  request: Recordable & { reference: string };
  /** All sent fields, as plain data. */
  fields: object;
  /** Milliseconds for the whole create. */
  timeout: number;
  signal?: AbortSignal | undefined;
  /** The claimed plan: the create sends only this plan. */
  plan?: JournalRow | undefined;
  /** Called after the gateway has refused a plan. @returns whether it is planned again anyway */
  onPlanRefused?: (() => boolean) | undefined;
  /** Sends the create, but never after the deadline. The signal ends the wait for its answer. */
  send(deadline: Deadline, signal: AbortSignal): Promise<Envelope>;
  lookUp(paymentId: string, limits: { timeout: number; signal?: AbortSignal | undefined }): Promise<Payment>;
}
