// A merchant's app, as `npx payment-gateway-sdk upkeep --app` loads it.
import pg from 'pg';
import { createWebhookHandler, GatewayClient } from '../../src/index.ts';
import { postgresStore } from '../../src/postgres/index.ts';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const store = postgresStore(pool, { scope: 'eu', tablePrefix: process.env.PAYMENT_GATEWAY_TABLE_PREFIX });

export const gateway = new GatewayClient({ store });
export const handler = createWebhookHandler({
  gateway,
  onPayment: ({ reference, paymentStatus }) => {
    if (process.env.FAILS) throw new Error('the shop is closed');
    console.log(`${reference} is ${paymentStatus}`);
  },
  onError: () => {},
});
export const close = () => pool.end();
