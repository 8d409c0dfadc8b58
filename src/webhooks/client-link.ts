// The parts of a client that a webhook handler needs, under a symbol that the ESM and the CommonJS copy share.
import type { CallOptions } from '../client-options.ts';
import type { TokenCheck } from '../payments/signing/callback-token.ts';
import type { Payment } from '../schemas/records/payment.ts';
import type { Store } from '../store/contract.ts';
import type { CreateRow } from '../store/rules/create-row.ts';

export const CLIENT = Symbol.for('payment-gateway-sdk.client');

export interface ClientLink<Tx = unknown> {
  store: Store<Tx> | undefined;
  tokens: TokenCheck;
  signCallbackUrls: boolean;
  /**
   * Settles a confirmed payment's doubt. Its own statement, so that a failing effect does not undo it.
   *
   * @param isBeforeEffect leaves a status that can wait to the effect
   */
  reconcile(payment: Payment, isBeforeEffect?: boolean): Promise<CreateRow | undefined>;
}

/** The part of a `GatewayClient` that a handler needs. */
export interface WebhookGateway<Tx = unknown> {
  getPayment(id: string, options?: CallOptions): Promise<Payment>;
  readonly [CLIENT]?: ClientLink<Tx> | undefined;
}
