// A merchant's module with declarations of its own: it exports what it has of the SDK, and names none of the types.
import * as sdk from 'payment-gateway-sdk';
import { instrument, type OpenTelemetry } from 'payment-gateway-sdk/otel';
import * as stores from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import * as suites from 'payment-gateway-sdk/testing';

declare const pool: stores.PgPool;
declare const api: OpenTelemetry;

export const stop = instrument(api, { doubtsOf: [] });

export const store = stores.postgresStore(pool, { scope: 'eu-terminal' });
export const { migrate, ddl } = store;
export const memory = sdk.memoryStore({ scope: 'eu-terminal' });

const options = { baseUrl: 'https://gateway.example', apiKey: 'key', signKey: 'sign', store };
export const gateway = new sdk.GatewayClient(options);
export const { createDeposit, createWithdrawal, createNftPurchase, createPayment } = gateway;
export const { getPayment, waitForPayment, checkout, order, cancelOrder, payOut } = gateway;
export const { settle, doubts, find, reviews, resolveReview, upkeep } = gateway;
export const paidOne = async (id: string) => {
  const payment = await gateway.getPayment(id);
  return sdk.isPaid(payment) || sdk.isFinal(payment) ? payment : undefined;
};
export const onramp = new sdk.GatewayClient({ ...options, terminal: 'onramp' });
export const onrampMethods = { deposit: onramp.createDeposit, payment: onramp.createPayment };
/** Of either kind of terminal. */
export const methodsOf = <T extends 'standard' | 'onramp'>(client: sdk.GatewayClient<T>) => [
  client.createDeposit,
  client.createPayment,
];

export const handler = sdk.createWebhookHandler({
  gateway,
  onPaid: ({ order }, { tx }) => tx.query('update orders set paid = true where id = $1', [order]),
});
export const listener = sdk.toNodeHandler(handler);

export const sandbox = new Sandbox();
export const { complete, fail, authorize, cancel, faults, listen, deliveries, clientOptions } = sandbox;

export class Payouts {
  readonly pay = gateway.createWithdrawal;
  upkeep() {
    return gateway.upkeep({ handler, once: true });
  }
}

export const everything = { ...sdk, ...stores, ...suites };
