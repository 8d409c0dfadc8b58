// The payments of an app: one client over one store, and the one handler of all callbacks. Servers import the handler.
// A scheduler runs `npx payment-gateway-sdk upkeep --app ./payments.js`.
import { createWebhookHandler, GatewayClient } from 'payment-gateway-sdk';
import { postgresStore } from 'payment-gateway-sdk/postgres';
import pg from 'pg';

/** Your own tables. Plan a payout with `gateway.payOut(tx, …)` in the transaction that inserts its row. */
const TABLES = `
  create table if not exists orders (id text primary key, amount numeric not null, currency text not null, paid boolean not null default false);
  create table if not exists payouts (reference text primary key, amount numeric not null, currency text not null, state text not null default 'owed')`;

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
// Without these two listeners, a broken connection ends the process: one while it is idle, one while it is in use.
pool.on('error', error => console.error(error));
pool.on('connect', client => client.on('error', error => console.error(error)));

const store = postgresStore(pool, { scope: 'eu-terminal' }); // one scope per terminal, never changed

// PAYMENT_GATEWAY_URL, PAYMENT_GATEWAY_API_KEY and PAYMENT_GATEWAY_SIGN_KEY come from the environment.
export const gateway = new GatewayClient({
  store,
  webhookUrl: 'https://shop.example/callbacks',
  // Send warnings to your alerts.
  onEvent: event => event.type === 'warning' && console.warn(`${event.code}: ${event.message}`),
});

// Each function runs once, in the transaction `tx`. If it throws, nothing is written, and upkeep retries.
export const handler = createWebhookHandler({
  gateway,
  onPaid: async ({ order }, { tx, afterCommit }) => {
    const { rowCount } = await tx.query('update orders set paid = true where id = $1', [order]);
    if (rowCount !== 1) throw new Error(`There is no order ${order}.`);
    afterCommit(() => console.log(`Receipt of order ${order}`));
  },
  // A chargeback. The order can be paid again.
  onReversed: ({ order }, { tx }) => tx.query('update orders set paid = false where id = $1', [order]),
  onPaidOut: ({ reference }, { tx }) => tx.query("update payouts set state = 'paid' where reference = $1", [reference]),
  // The bank returned the money, or never paid: owe it again under another reference.
  onPayoutFailed: ({ reference }, { tx }) =>
    tx.query("update payouts set state = 'failed' where reference = $1", [reference]),
  // A person must act: `npx payment-gateway-sdk reviews --scope eu-terminal` lists the payments.
  onReview: ({ reference, reason }) => console.warn(`Review ${reference}: ${reason}`),
  onError: error => console.error(error),
});

/** Creates missing tables. Run it once per deployment. */
export async function migrate(): Promise<void> {
  await store.migrate();
  await pool.query(TABLES);
}

/** Closes the pool. */
export const close = () => pool.end();
