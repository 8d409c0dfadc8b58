// Every entry point, for the compiler: what an app writes with each of them.
import {
  createWebhookHandler,
  GatewayClient,
  isPaid,
  memoryInbox,
  memoryJournal,
  type Payment,
} from 'payment-gateway-sdk';
import { mysqlInbox, mysqlJournal } from 'payment-gateway-sdk/mysql';
import { instrument } from 'payment-gateway-sdk/otel';
import { postgresInbox, postgresJournal } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { inboxSuite, journalSuite } from 'payment-gateway-sdk/testing';

export const sandbox = new Sandbox();
export const gateway = new GatewayClient({ ...sandbox.clientOptions, journal: memoryJournal() });
export const handler = createWebhookHandler({
  gateway,
  inbox: memoryInbox(),
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

export const others = {
  inboxSuite,
  instrument,
  journalSuite,
  mysqlInbox,
  mysqlJournal,
  postgresInbox,
  postgresJournal,
};
