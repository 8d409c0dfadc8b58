// Makes each reference one payment for ever: the contract that every journal keeps.
import type { NextAction } from '../next-action.ts';
import type { Payment } from '../schemas/payment.ts';

/** One reference within one scope: a terminal's, as a rule. */
export interface JournalKey {
  scope: string;
  reference: string;
}

/** What is written down before a create leaves. */
export interface JournalAttempt extends JournalKey {
  /** Names this attempt, so that a late one cannot touch a newer one. */
  token: string;
  paymentType: 'DEPOSIT' | 'WITHDRAWAL';
  paymentMethod: string;
  /** A plain decimal without trailing zeros. */
  amount: string;
  currency: string;
  /** Of the whole body, in a canonical form. */
  bodyHash: string;
  /** Milliseconds from now after which this attempt sends nothing any more. */
  timeoutMs: number;
}

/** How a create ended, as it is answered to whoever asks again. */
export interface JournalResult {
  payment: Payment;
  nextAction: NextAction;
}

/** What the journal knows of a reference. Without `result` it is under way, or in doubt. */
export interface JournalRecord extends Omit<JournalAttempt, 'timeoutMs'> {
  since: Date;
  /** The payment's id, once anything has told it. */
  paymentId?: string | undefined;
  result?: JournalResult | undefined;
  /** Further payments that have claimed the reference. */
  strayIds?: readonly string[] | undefined;
}

/** Whether the attempt was still the reference's own, and the id of another payment that it found there. */
export interface Acceptance {
  accepted: boolean;
  other?: string | undefined;
}

/** A create of which nobody knows how it ended. */
export interface Doubt extends JournalKey {
  /** When it began. */
  since: Date;
  paymentId?: string | undefined;
}

/**
 * Remembers every reference. A transition takes effect only if the reference is still at the attempt whose token it
 * bears, and answers whether it did.
 */
export interface Journal {
  /**
   * What references are unique within; set it per terminal.
   * @default a hash of the client's `baseUrl`
   */
  readonly scope?: string | undefined;
  /**
   * Writes the attempt down, durably, if the reference is free; else answers what stands there. The same attempt twice
   * is one, as when a store's answer was lost and the statement was sent again.
   */
  begin(attempt: JournalAttempt): Promise<JournalRecord | undefined>;
  read(key: JournalKey): Promise<JournalRecord | undefined>;
  /**
   * The attempt's own answer. It stands for ever, also over what a callback has told before: it has the next action. If
   * that callback told of another payment, its id is kept as a stray, and answered.
   */
  accept(key: JournalKey, token: string, result: JournalResult): Promise<Acceptance>;
  /**
   * What a callback, a lookup or an operator told of a doubt. It never takes the place of a result, nor of another id,
   * unless that one is disproved: then it is kept as a stray.
   *
   * @param disproved a suspected id that the gateway knows no payment of
   */
  settle(key: JournalKey, token: string, result: JournalResult, disproved?: string): Promise<boolean>;
  /** A doubt learns its payment's id. A second id is kept as a stray, and the first is answered. */
  suspect(key: JournalKey, token: string, paymentId: string): Promise<Acceptance>;
  /** The reference is free again: the gateway refused it, or it never left. Not if anything has told of any payment. */
  release(key: JournalKey, token: string): Promise<boolean>;
  /** As `release`, and only if the attempt's time has passed by the journal's own clock; also over a disproved id. */
  abandon(key: JournalKey, token: string, disproved?: string): Promise<boolean>;
  /** Keeps the id of a further payment of the same reference. */
  keepStray(key: JournalKey, token: string, paymentId: string): Promise<boolean>;
  /** Every doubt, the oldest first; creates that are under way are among them. */
  inDoubt(): Promise<Doubt[]>;
}

/** Whether what stands there is the attempt itself, and nothing has happened to it since. */
export const isOwn = ({ token, paymentId, result }: JournalRecord, own: string): boolean =>
  token === own && !paymentId && !result;
