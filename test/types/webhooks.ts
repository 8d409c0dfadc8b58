// Only the compiler reads this file (npm run typecheck): the store of the gateway gives `tx` its type.
import { createServer } from 'node:http';
import express from 'express';
import Fastify from 'fastify';
import { createWebhookHandler, GatewayClient, memoryStore, toNodeHandler } from 'payment-gateway-sdk';
import { postgresStore } from 'payment-gateway-sdk/postgres';
import pg from 'pg';

const store = postgresStore(new pg.Pool(), { scope: 'eu' });
const gateway = new GatewayClient({ terminal: 'onramp', store });

export const overPostgres = createWebhookHandler({
  gateway,
  onPaid: async ({ order, payment }, { tx }) => {
    const client: Pick<pg.PoolClient, 'query'> = tx;
    const { rows } = await client.query<{ id: string }>('select id from orders where id = $1', [order]);
    // @ts-expect-error a slip in a field's name
    payment.refrence;
    return rows[0]?.id;
  },
  onPayoutFailed: ({ reference, wasPaidOut }, { tx }) =>
    tx.query('update payouts set returned = $2 where reference = $1', [reference, wasPaidOut]),
  onReview: ({ reason }) => {
    // @ts-expect-error a slip in a reason
    return reason === 'alreday_paid';
  },
});

export const overMemory = createWebhookHandler({
  gateway: new GatewayClient({ store: memoryStore() }),
  // @ts-expect-error memoryStore has no transaction to query
  onPaid: (_paid, { tx }) => tx.query('select 1'),
});

export const mistyped = createWebhookHandler({
  gateway,
  // @ts-expect-error a slip in a function's name
  onPayed: () => {},
});

/** A transaction of another library does not fit the store. */
export const planned = (tx: { insert(): void }) =>
  // @ts-expect-error the store's own transaction is a client of pg
  gateway.payOut(tx, { paymentMethod: 'SEPA', amount: '1.00', currency: 'EUR', reference: 'payout-1' });

const node = toNodeHandler(overPostgres);
createServer(node);
express().post('/callbacks', node);
Fastify().post('/callbacks', node);
