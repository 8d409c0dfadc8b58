// One replica of a merchant: serves callbacks over a store, and records every effect with its order.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createWebhookHandler, GatewayClient, type Payment, toNodeHandler } from '../../src/index.ts';
import { openDatabase } from './database.ts';

const { STORE = '', GATEWAY_URL, PREFIX = '', EFFECTS = '', STORE_PORT, KILL = '0' } = process.env;

const statusOf = (payment: Payment) =>
  payment.paymentStatus === 'UNKNOWN' ? payment.rawPaymentStatus : payment.paymentStatus;

/** The crash in the middle: after the effect's write, before its mark. */
function perhapsDie(): void {
  if (Math.random() < Number(KILL)) process.kill(process.pid, 'SIGKILL');
}

const port = Number(STORE_PORT);
const database = await openDatabase(STORE, { max: 8, connectMs: 1_000, ...(port && { port }) });
const store = database.store({ scope: 'shop', tablePrefix: PREFIX });
const gateway = new GatewayClient({ baseUrl: GATEWAY_URL, timeout: 5_000, retries: 0, store });
const handler = createWebhookHandler({
  gateway,
  onPayment: async (payment, { tx }) => {
    const values = [payment.id, statusOf(payment)];
    await database.queryIn(tx)(`insert into ${EFFECTS} (payment_id, status) values (?, ?)`, values);
    perhapsDie();
  },
});

const server = createServer(toNodeHandler(handler));
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
