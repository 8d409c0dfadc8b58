// What the books keep of a payment: its record as the wire has it, and the request that made it.

import type { CheckedRequest } from '../../schemas/checked-request.ts';
import type { PaymentStatus } from '../../schemas/methods.ts';

/** A payment as the gateway records it, in the names and types of the wire. */
export interface PaymentRecord {
  id: string;
  paymentStatus: PaymentStatus;
  created: { date: string; timezone_type: number; timezone: string };
  paymentType: 'DEPOSIT' | 'WITHDRAWAL';
  description: string | null;
  paymentMethod: string;
  reference: string | null;
  amount: number;
  currency: string;
  customer: Record<string, unknown> | null;
  /** PHP's empty map, `[]`, if the merchant gave none. */
  billingAddress: Record<string, unknown> | [];
  cryptoAmount?: string;
  cryptoCurrency?: string;
  crypto_fx?: number;
  errorMessage?: string;
  settled_crypto_amount?: number;
  crypto_tx_hash?: string;
  destination_wallet?: string;
}

/** A creation request that the sandbox has found in order. */
export type AcceptedRequest = CheckedRequest & { amount: number };

/** A payment, and what the merchant asked for. */
export interface Entry {
  record: PaymentRecord;
  request: AcceptedRequest;
}

/** Why a payment fails: a processor's code, which the gateway translates, or a text, which passes through. */
export interface FailureReason {
  code?: number | string | undefined;
  reason?: string | undefined;
}
