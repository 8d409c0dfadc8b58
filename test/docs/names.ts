// What the documents' examples have without declaring it: an environment, and the names of a merchant's app.
import { GatewayClient } from 'payment-gateway-sdk';
import { postgresInbox } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import pg from 'pg';

const sandbox = new Sandbox({ fetch: async () => new Response() });
const server = await sandbox.listen();
const options = sandbox.clientOptions;

export const { apiKey, signKey } = options;
export const baseUrl = server.url;
export const gateway = new GatewayClient({ ...options, baseUrl, fetch: undefined });
export const webhookUrl = 'https://shop.example/callbacks';

async function completed(): Promise<string> {
  const { payment } = await gateway.createDeposit({ paymentMethod: 'CARD', amount: 1, currency: 'EUR', webhookUrl });
  await sandbox.complete(payment.id);
  return payment.id;
}
export const id = await completed();
/** A payment whose effect is in doubt: another one, because that lasts until an example resolves it. */
export const paymentId = await completed();

// A schema of its own, so that the examples leave nothing behind. Nothing here imports test/support/stores.ts: the compiler
// would read the types of every driver.
const DATABASE_URL = 'postgres://postgres@127.0.0.1:5432/test';
const schema = `docs_${crypto.randomUUID().replaceAll('-', '')}`;
Object.assign(process.env, {
  PAYMENT_GATEWAY_URL: baseUrl,
  PAYMENT_GATEWAY_API_KEY: apiKey,
  PAYMENT_GATEWAY_SIGN_KEY: signKey,
  DATABASE_URL: `${DATABASE_URL}?options=-c%20search_path%3D${schema}`,
});

export const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, connectionTimeoutMillis: 5_000 });
pool.on('error', () => {});
const hasPostgres = await pool.query(`create schema ${schema}`).then(
  () => true,
  () => false,
);
if (hasPostgres) {
  await postgresInbox(pool).migrate();
  // Those of the examples: what creates them "if not exists" finds them.
  await pool.query(`
    create table orders (id text primary key, amount numeric not null, currency text not null, webhook_url text not null,
      return_url text not null, attempt int not null default 1, is_cancelled boolean not null default false, paid_by uuid);
    create table payouts (reference text primary key, amount numeric not null, currency text, webhook_url text,
      owed_at timestamptz not null default now(), status text)`);
  await pool.query(`insert into payment_gateway_inbox values ($1, 'COMPLETED', true)`, [paymentId]);
}

export const onPayment = ignore;
export const sendReceipt = ignore;
export const recordDeposit = ignore;

function ignore(..._given: unknown[]): void {}

export async function tidyUp(): Promise<void> {
  if (hasPostgres) await pool.query(`drop schema ${schema} cascade`);
  await pool.end();
  await server.close();
}
