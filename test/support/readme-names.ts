// The names that the documents' examples use without declaring them, as a merchant's app would have them.
import { GatewayClient } from 'payment-gateway-sdk';
import { postgresInbox } from 'payment-gateway-sdk/postgres';
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

/** A payment whose effect is in doubt. */
export const paymentId = payment.id;
if (hasPostgres) {
  await pool.query(`create schema ${schema}`);
  await postgresInbox(pool).migrate();
  await pool.query('create table payouts (reference text primary key, amount numeric not null)');
  await pool.query(`insert into payment_gateway_inbox values ($1, 'COMPLETED', true)`, [paymentId]);
}

export const onPayment = ignore;
export const sendReceipt = ignore;

function ignore(_given: unknown): void {}

export async function tidyUp(): Promise<void> {
  if (hasPostgres) await pool.query(`drop schema ${schema} cascade`);
  await pool.end();
  await server.close();
}
