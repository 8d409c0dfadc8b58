// Every entry point, for the compiler: what an app writes with each of them.
import { createWebhookHandler, GatewayClient, isPaid, memoryStore, type Payment } from 'payment-gateway-sdk';
import { mysqlStore } from 'payment-gateway-sdk/mysql';
import { instrument } from 'payment-gateway-sdk/otel';
import { type PgPool, postgresStore } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { storeSuite } from 'payment-gateway-sdk/testing';

export const sandbox = new Sandbox();
export const gateway = new GatewayClient({ ...sandbox.clientOptions, store: memoryStore() });
export const handler = createWebhookHandler({
  gateway,
  onPayment: (payment, { afterCommit }) => {
    if (isPaid(payment)) afterCommit(() => console.log(payment.amount, payment.created?.date));
  },
});

export async function deposit(description: string | undefined): Promise<Payment> {
  const { payment, nextAction } = await gateway.createDeposit({
    paymentMethod: 'CARD',
    amount: '25.50',
    currency: 'EUR',
    webhookUrl: 'https://shop.example/callbacks',
    ...(description === undefined ? {} : { description }),
  });
  if (nextAction.type === 'redirect') console.log(nextAction.redirectUrl);
  return payment;
}

// @ts-expect-error: there is no such method
gateway.createDeposit({ paymentMethod: 'CASH', amount: '1', currency: 'EUR', webhookUrl: 'https://shop.example' });

export const others = { instrument, mysqlStore, storeSuite };

declare const pool: PgPool;
const store = postgresStore(pool, { scope: 'eu' });
export const overPostgres = createWebhookHandler({
  gateway: new GatewayClient({ store }),
  onPaid: ({ order }, { tx }) => tx.query('update orders set paid = true where id = $1', [order]),
});
