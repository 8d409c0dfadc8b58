// The links between a client and a webhook handler, under symbols that the ESM and the CommonJS copy share.
import type { Payment } from '../schemas/payment.ts';
import type { Store } from './contract.ts';
import type { CreateRow } from './creates.ts';

/** The key of a client's {@link ClientLink}. */
export const CLIENT = Symbol.for('payment-gateway-sdk.client');
/** The key of a handler's {@link HandlerLink}. */
export const HANDLER = Symbol.for('payment-gateway-sdk.handler');

/** Result of processing a payment. `already`: its status took effect before. `busy`: another worker has the payment. */
export interface ProcessResult {
  result: 'ran' | 'already' | 'busy';
  /** The gateway's own record. */
  payment: Payment;
}

/** Checks the tokens in the addresses of callbacks. */
export interface TokenCheck {
  /** Returns the token of an address if this client issued it, in the same time for every token. */
  check(url: string): string | undefined;
  /** Returns whether a valid token belongs to the payment. Each fits a payment without a reference. */
  isOf(token: string, payment: Payment): boolean;
}

/** The parts of a client that a handler needs, besides `getPayment`. */
export interface ClientLink<Tx = unknown> {
  store: Store<Tx> | undefined;
  tokens: TokenCheck;
  signCallbackUrls: boolean;
  /**
   * Settles the doubt of a confirmed payment's reference. Its own statement, so that a failing effect does not undo it.
   *
   * @param isBeforeEffect leaves a status that can wait to the effect
   */
  reconcile(payment: Payment, isBeforeEffect?: boolean): Promise<CreateRow | undefined>;
  /** Makes a payment due whose callback was not handled, if the store knows it. */
  makeDue(paymentId: string): Promise<void>;
}

/** What upkeep needs of a handler. */
export interface HandlerLink {
  store: Store | undefined;
  /** Looks a payment up, and applies its status as its callback would. */
  process(paymentId: string, options: { signal?: AbortSignal | undefined; timeout: number }): Promise<ProcessResult>;
  /** Lists a payout that was refused for good, and calls `onReview`. */
  reviewRefused(reference: string): Promise<void>;
}
