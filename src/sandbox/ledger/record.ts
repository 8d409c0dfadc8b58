// The ledger's data of a payment: its record and its request.
import type { PaymentStatus } from '../../schemas/methods.ts';
import type { CheckedRequest } from '../../schemas/requests/checked-request.ts';

/** A payment as the gateway records it, in the names and types of the wire. */
export interface PaymentRecord {
  /** This and the next two: once it is settled in crypto. */
  settled_crypto_amount?: number;
  crypto_tx_hash?: string;
  destination_wallet?: string;

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

export function withoutSettlement(record: PaymentRecord) {
  const { settled_crypto_amount, crypto_tx_hash, destination_wallet, ...rest } = record;
  return rest;
}

export type AcceptedRequest = CheckedRequest & { amount: number };

export interface Entry {
  record: PaymentRecord;
  request: AcceptedRequest;
  /** The start of an identified customer's quote, in milliseconds since 1970. */
  quotedAt?: number | undefined;
  /** Whether a scenario made it, and has chosen the address of its callbacks. */
  isPlayed?: boolean;
}

/** The reason of a failed payment: a processor's code for the gateway to translate, or an unchanged text. */
export interface FailureReason {
  code?: number | string | undefined;
  reason?: string | undefined;
}

/** The options of a move. */
export interface MoveOptions {
  /** Moves the payment even out of a final state. */
  force?: boolean | undefined;
}

/** The options of `complete`. */
export interface CompleteOptions extends MoveOptions {
  /** The paid amount, if it is not the requested one. */
  amount?: number | undefined;
}

export type AnyMoveOptions = FailureReason & CompleteOptions;
