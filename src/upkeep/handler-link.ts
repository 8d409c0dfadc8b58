// What upkeep needs of a webhook handler, under a symbol that the ESM and the CommonJS copy share.
import type { Payment } from '../schemas/records/payment.ts';
import type { Store } from '../store/contract.ts';
import type { CreateRow } from '../store/rules/create-row.ts';

export const HANDLER = Symbol.for('payment-gateway-sdk.handler');

/** `already`: the status took effect before. `busy`: another worker has the payment. */
export interface ProcessResult {
  result: 'ran' | 'already' | 'busy';
  /** The gateway's own record. */
  payment: Payment;
}

export interface HandlerLink {
  store: Store | undefined;
  /** Looks a payment up, and applies its status as its callback would. */
  process(paymentId: string, options: { signal?: AbortSignal | undefined; timeout: number }): Promise<ProcessResult>;
  /** Lists a payout that was refused for good, and calls `onReview`. */
  reviewRefused(refused: CreateRow): Promise<void>;
}
