// A merchant's app, as `npx payment-gateway-sdk sweep --app` loads it.
import pg from 'pg';
import { createWebhookHandler, GatewayClient } from '../../src/index.ts';
import { postgresJournal } from '../../src/postgres/index.ts';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const journal = postgresJournal(pool, { table: process.env.PAYMENT_GATEWAY_JOURNAL_TABLE, scope: 'eu' });

export const gateway = new GatewayClient({ journal, signCallbackUrls: true });
export const handler = createWebhookHandler({
  gateway,
  onPayment: ({ reference, paymentStatus }) => {
    if (process.env.FAILS) throw new Error('the shop is closed');
    console.log(`${reference} is ${paymentStatus}`);
  },
  onError: () => {},
});
export const close = () => pool.end();
