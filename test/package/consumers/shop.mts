// A merchant's module with declarations of its own: it exports what it has of the SDK, and names none of the types.
import * as sdk from 'payment-gateway-sdk';
import { instrument, type OpenTelemetry } from 'payment-gateway-sdk/otel';
import * as stores from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import * as suites from 'payment-gateway-sdk/testing';

declare const pool: stores.PgPool;
declare const api: OpenTelemetry;

export const stop = instrument(api, { doubtsOf: [] });

export const journal = stores.postgresJournal(pool, { scope: 'eu-terminal' });
export const { plan, migrate, ddl, read, insert, replace, list, claim, watch, seal } = journal;
export const memory = sdk.memoryJournal({ scope: 'eu-terminal' });
export const planInMemory = memory.plan;

const options = { baseUrl: 'https://gateway.example', apiKey: 'key', signKey: 'sign', journal };
export const gateway = new sdk.GatewayClient(options);
export const { createDeposit, createWithdrawal, createNftPurchase, createPayment } = gateway;
export const { getPayment, waitForPayment, confirmWebhook, checkCallbackUrl, isCallbackOf } = gateway;
export const { settle, inDoubt, find, sweep, drain, reconcile, acknowledge } = gateway;
export const onramp = new sdk.GatewayClient({ ...options, terminal: 'onramp' });
export const onrampMethods = { deposit: onramp.createDeposit, payment: onramp.createPayment };
/** Of either kind of terminal. */
export const methodsOf = <T extends sdk.Terminal>(client: sdk.GatewayClient<T>) => [
  client.createDeposit,
  client.createPayment,
];

export const inbox = stores.postgresInbox(pool);
export const { run, resolve } = inbox;
export const handler = sdk.createWebhookHandler({ gateway, inbox, onPayment: () => {} });
export const { process } = handler;
export const listener = sdk.toNodeHandler(handler);
export const memoryInbox = sdk.memoryInbox();

export const sandbox = new Sandbox();
export const { complete, fail, authorize, cancel, faults, listen, deliveries, clientOptions } = sandbox;

export class Payouts {
  readonly pay = gateway.createWithdrawal;
  readonly plan = journal.plan;
  drain() {
    return gateway.drain();
  }
}

export const everything = { ...sdk, ...stores, ...suites };
