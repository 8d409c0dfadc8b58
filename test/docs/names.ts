// The names of a merchant's app that the documents' examples use without declaring them.
import { createWebhookHandler, GatewayClient } from 'payment-gateway-sdk';
import { postgresStore } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import pg from 'pg';

const sandbox = new Sandbox({ fetch: async () => new Response() });
const server = await sandbox.listen();

// Its own schema, so that the examples leave nothing behind. Nothing here imports test/support/stores.ts: the compiler
// would read the types of every driver.
const DATABASE_URL = 'postgres://postgres@127.0.0.1:5432/test';
const schema = `docs_${crypto.randomUUID().replaceAll('-', '')}`;
const before = { ...process.env };
const settings = {
  PAYMENT_GATEWAY_URL: server.url,
  PAYMENT_GATEWAY_API_KEY: sandbox.clientOptions.apiKey,
  PAYMENT_GATEWAY_SIGN_KEY: sandbox.clientOptions.signKey,
  DATABASE_URL: `${DATABASE_URL}?options=-c%20search_path%3D${schema}`,
};
Object.assign(process.env, settings);

export const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, connectionTimeoutMillis: 5_000 });
pool.on('error', () => {});
pool.on('connect', client => client.on('error', () => {}));
export const webhookUrl = 'https://shop.example/callbacks';

const store = postgresStore(pool, { scope: 'eu-terminal' });
await pool.query(`create schema ${schema}`);
await store.migrate();
await pool.query(`
  create table orders (id text primary key, paid boolean not null default false);
  create table payouts (reference text primary key, state text not null)`);

export const gateway = new GatewayClient({ store, webhookUrl });
export const handler = createWebhookHandler({ gateway, onPaid: ignore });

const { payment } = await gateway.createDeposit({ paymentMethod: 'CARD', amount: 1, currency: 'EUR' });
await sandbox.complete(payment.id);
export const id = payment.id;

export const test = runNow;
export const response = { redirect: ignore };
export const sendReceipt = ignore;
export const notifyOperator = ignore;

/** Runs a test of a suite. Vitest fails for a rejection that nobody handles. */
function runNow(_name: string, run: () => Promise<void>): Promise<void> {
  return run();
}

function ignore(..._given: unknown[]): void {}

export async function tidyUp(): Promise<void> {
  await pool.query(`drop schema ${schema} cascade`);
  await pool.end();
  await server.close();
  for (const name of Object.keys(settings)) delete process.env[name];
  Object.assign(process.env, before);
}
