// The ledger's data of a payment: its record in the wire's form, and its request.
import type { PaymentStatus } from '../../schemas/methods.ts';
import type { CheckedRequest } from '../../schemas/requests/checked-request.ts';

/** Fields of a payment once it is settled in crypto. */
export interface Settlement {
  settled_crypto_amount?: number;
  crypto_tx_hash?: string;
  destination_wallet?: string;
}

/** A payment as the gateway records it, in the names and types of the wire. */
export interface PaymentRecord extends Settlement {
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
  /** PHP's empty map, `[]`, if the merchant sent no address. */
  billingAddress: Record<string, unknown> | [];
  cryptoAmount?: string;
  cryptoCurrency?: string;
  crypto_fx?: number;
  errorMessage?: string;
}

export function withoutSettlement(record: PaymentRecord): Omit<PaymentRecord, keyof Settlement> {
  const { settled_crypto_amount, crypto_tx_hash, destination_wallet, ...rest } = record;
  return rest;
}

/** A creation request that passed the sandbox's checks. */
export type AcceptedRequest = CheckedRequest & { amount: number };

export interface Entry {
  record: PaymentRecord;
  request: AcceptedRequest;
  /** The start of an identified customer's quote, in milliseconds since 1970. */
  quotedAt?: number | undefined;
  /** Whether a scenario made it. Its callbacks go to their own address despite `forwardTo`. */
  isPlayed?: boolean;
}

/** The reason of a failed payment: a processor's code for the gateway to translate, or an unchanged text. */
export interface FailureReason {
  code?: number | string | undefined;
  reason?: string | undefined;
}
