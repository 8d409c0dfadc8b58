// One replica of a merchant: serves callbacks over an inbox, and writes down every effect with its order.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createWebhookHandler, GatewayClient, type Payment, toNodeHandler } from '../../src/index.ts';
import { postgresInbox } from '../../src/postgres/index.ts';
import { redisInbox } from '../../src/redis/index.ts';
import { Sandbox } from '../../src/sandbox/index.ts';

const { STORE, GATEWAY_URL, MARKS = '', EFFECTS = '', STORE_PORT, KILL = '0' } = process.env;
const { apiKey, signKey } = new Sandbox().clientOptions;
const gateway = new GatewayClient({ baseUrl: GATEWAY_URL, apiKey, signKey, timeout: 5_000, retries: 0 });

const statusOf = (payment: Payment) =>
  payment.paymentStatus === 'UNKNOWN' ? payment.rawPaymentStatus : payment.paymentStatus;

/** The crash in the middle: after the effect's write, before its mark. */
function perhapsDie(): void {
  if (Math.random() < Number(KILL)) process.kill(process.pid, 'SIGKILL');
}

function overPostgres() {
  const pool = new pg.Pool({
    host: '127.0.0.1',
    port: Number(STORE_PORT ?? 5432),
    user: 'postgres',
    database: 'test',
    max: 8,
    connectionTimeoutMillis: 1_000,
  });
  pool.on('error', () => {});
  return createWebhookHandler({
    gateway,
    inbox: postgresInbox(pool, { table: MARKS }),
    onPayment: async (payment, { tx }) => {
      await tx.query(`insert into ${EFFECTS} (payment_id, status) values ($1, $2)`, [payment.id, statusOf(payment)]);
      perhapsDie();
    },
  });
}

function overRedis() {
  const client = new Redis({ host: '127.0.0.1', port: Number(STORE_PORT ?? 6379), maxRetriesPerRequest: 1 });
  client.on('error', () => {});
  return createWebhookHandler({
    gateway,
    inbox: redisInbox(client, { prefix: MARKS, leaseMs: 1_000 }),
    onPayment: async payment => {
      await client.rpush(EFFECTS, `${payment.id} ${statusOf(payment)}`);
      perhapsDie();
    },
  });
}

const server = createServer(toNodeHandler(STORE === 'postgres' ? overPostgres() : overRedis()));
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
