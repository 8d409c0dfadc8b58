// A create, as far as the journal has to do with it.
import type { Deadline } from '../deadline.ts';
import type { Payment } from '../schemas/payment.ts';
import type { Envelope } from '../schemas/response.ts';
import type { JournalRow } from './contract.ts';
import type { Recordable } from './fingerprint.ts';
import type { ClientJournal } from './reports.ts';

/** What a create with a reference gives to the journal. */
export interface JournaledCreate extends ClientJournal {
  request: Recordable & { reference: string };
  /** All that is sent, as plain data. */
  fields: object;
  /** Milliseconds for the whole create. */
  timeout: number;
  signal?: AbortSignal | undefined;
  /** What was claimed of the journal: this plan is sent, or nothing. */
  plan?: JournalRow | undefined;
  /** Called once the gateway has refused what was planned. @returns whether it is planned again all the same */
  onPlanRefused?: (() => boolean) | undefined;
  /** Sends it, and nothing after the deadline. Its answer is awaited until the signal. */
  send(deadline: Deadline, signal: AbortSignal): Promise<Envelope>;
  lookUp(paymentId: string, limits: { timeout: number; signal?: AbortSignal | undefined }): Promise<Payment>;
}
