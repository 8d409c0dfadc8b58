// The app of the recipes: a store in its own table, and a gateway whose callbacks are lost.
import { createWebhookHandler, GatewayClient } from 'payment-gateway-sdk';
import { postgresStore } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { postgresPool, uniqueName } from '../support/stores.ts';

export const pool = postgresPool();
export const tablePrefix = uniqueName('upkeep');
const store = postgresStore(pool, { scope: 'eu', tablePrefix });
export const sandbox = new Sandbox({ fetch: async () => new Response(null, { status: 500 }) });
export const gateway = new GatewayClient({ ...sandbox.clientOptions, store });
export const paidOut: string[] = [];
export const handler = createWebhookHandler({
  gateway,
  onPaidOut: ({ reference }) => void paidOut.push(reference ?? ''),
});
export const migrate = () => store.migrate();
