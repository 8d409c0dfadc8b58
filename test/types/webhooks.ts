// Read by the compiler alone (npm run typecheck): what onPayment gets depends on the inbox.
import { createServer } from 'node:http';
import express from 'express';
import Fastify from 'fastify';
import { createWebhookHandler, GatewayClient, memoryInbox, toNodeHandler } from 'payment-gateway-sdk';
import { postgresInbox } from 'payment-gateway-sdk/postgres';
import pg from 'pg';

const gateway = new GatewayClient({ terminal: 'onramp' });
const pool = new pg.Pool();

export const overPostgres = createWebhookHandler({
  gateway,
  inbox: postgresInbox(pool),
  onPayment: async (payment, { tx }) => {
    const client: Pick<pg.PoolClient, 'query'> = tx;
    const { rows } = await client.query<{ id: string }>('select id from orders where id = $1', [payment.reference]);
    // @ts-expect-error a slip in a field's name
    payment.refrence;
    return rows[0]?.id;
  },
});

export const overMemory = createWebhookHandler({
  gateway,
  inbox: memoryInbox(),
  // @ts-expect-error only Postgres has a transaction to hand out
  onPayment: (_payment, { tx }) => tx,
});

const node = toNodeHandler(overPostgres);
createServer(node);
express().post('/callbacks', node);
Fastify().post('/callbacks', node);
