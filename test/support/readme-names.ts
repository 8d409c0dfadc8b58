// The names that the README's examples use without declaring them, as a merchant's app would have them.
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { hasPostgres, postgresPool, uniqueName } from './stores.ts';
import { authority, certificate } from './tls.ts';

const sandbox = new Sandbox({ fetch: async () => new Response() });
const server = await sandbox.listen();
const options = sandbox.clientOptions;

export const { apiKey, signKey } = options;
export const { cert, key } = certificate('client');
export const ca = authority;
export const baseUrl = server.url;
export const gateway = new GatewayClient({ ...options, baseUrl, fetch: undefined });
export const webhookUrl = 'https://shop.example/callbacks';

const { payment } = await gateway.createDeposit({
  paymentMethod: 'CARD',
  amount: 1,
  currency: 'EUR',
  webhookUrl,
});
await sandbox.complete(payment.id);
export const id = payment.id;

/** A schema of its own, so that the examples leave nothing behind. */
const schema = uniqueName('readme');
export const pool = postgresPool({ options: `-c search_path=${schema}` });
if (hasPostgres) await pool.query(`create schema ${schema}`);

export async function tidyUp(): Promise<void> {
  if (hasPostgres) await pool.query(`drop schema ${schema} cascade`);
  await pool.end();
  await server.close();
}
