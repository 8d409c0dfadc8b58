// The payments of an app: one client with one journal, one inbox, and ONE handler for deposits and withdrawals. Servers
// use the handler, and commands load this module (`--app`). Copy it with checkout.ts, payouts.ts and to-check.ts.
import { type CallbackEvent, createWebhookHandler, GatewayClient, type GatewayEvent } from 'payment-gateway-sdk';
import { postgresInbox, postgresJournal } from 'payment-gateway-sdk/postgres';
import pg from 'pg';
import * as checkout from './checkout.js';
import * as payouts from './payouts.js';
import * as toCheck from './to-check.js';

const SHOP = 'https://shop.example'; // your address for the gateway and your customers

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
// Without these two listeners, a broken connection ends the process: one while it is idle, one while it is in use.
pool.on('error', error => console.error(error));
pool.on('connect', client => client.on('error', error => console.error(error)));
const journal = postgresJournal(pool, { scope: 'eu-terminal' }); // one scope per terminal, never changed
const inbox = postgresInbox(pool);

/** An operator must read warnings: send them to your alerts. */
function onEvent(event: GatewayEvent | CallbackEvent): void {
  if (event.type === 'warning') console.warn(`${event.code}: ${event.message}`);
}

// PAYMENT_GATEWAY_URL, PAYMENT_GATEWAY_API_KEY and PAYMENT_GATEWAY_SIGN_KEY come from the environment.
export const gateway = new GatewayClient({ journal, onEvent });

export const handler = createWebhookHandler({
  gateway,
  inbox,
  // If this returns, the inbox marks the status as done for all its handlers. So use one handler only.
  onPayment: (payment, { tx }) =>
    payment.paymentType === 'DEPOSIT'
      ? checkout.recordDeposit(tx, payment)
      : payouts.recordPayout(tx, payment, gateway),
  onError: error => console.error(error),
  onEvent,
});

export const { place, pay, cancel, stateOf } = checkout.openCheckout(pool, gateway, SHOP);
export const { payOut, planAgain, overdue } = payouts.openPayouts(pool, gateway, journal, SHOP);

/** Creates missing tables. Run it once per deployment. */
export async function migrate(): Promise<void> {
  for (const store of [journal, inbox]) await store.migrate();
  for (const { SCHEMA } of [toCheck, checkout, payouts]) await pool.query(SCHEMA);
}

/** Closes the pool, for the commands. */
export const close = () => pool.end();
