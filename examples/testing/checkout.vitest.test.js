// A merchant's checkout, tested with Vitest: no port, no network, the same ids in every run.
import { createWebhookHandler, GatewayClient, isPaid } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { beforeEach, expect, test } from 'vitest';

let sandbox;
let gateway;
let paid;

beforeEach(() => {
  paid = [];
  sandbox = new Sandbox({
    seed: 'checkout', // deterministic ids
    now: () => Date.UTC(2026, 10, 21), // and a clock
    fetch: (url, init) => callbacks(new Request(url, init)), // callbacks go straight to the app
  });
  gateway = new GatewayClient(sandbox.clientOptions);
  const callbacks = createWebhookHandler({
    gateway,
    onPayment: payment => {
      if (payment.paymentType === 'DEPOSIT' && isPaid(payment)) paid.push(payment.reference);
    },
  });
});

const order = {
  paymentMethod: 'CARD',
  amount: '25.50',
  currency: 'EUR',
  reference: 'order-1042',
  webhookUrl: 'https://shop.example/callbacks',
};

test('an order is paid once its callback has come', async () => {
  const { payment, nextAction } = await gateway.createDeposit(order);
  expect(nextAction).toEqual({ type: 'redirect', redirectUrl: `http://sandbox.localhost/pay/${payment.id}` });
  await sandbox.complete(payment.id);
  await sandbox.idle();
  expect(paid).toEqual(['order-1042']);
});

test('a declined order is not', async () => {
  const { payment } = await gateway.createDeposit(order);
  await sandbox.fail(payment.id, { code: 4004 });
  await sandbox.idle();
  expect(paid).toEqual([]);
});

test('a create that was cut off is found by its id', async () => {
  sandbox.faults.next('commit-then-cut');
  const error = await gateway.createDeposit(order).catch(error => error);
  expect(error.outcome).toBe('unknown');
  await sandbox.complete(error.paymentId);
  await sandbox.idle();
  expect(paid).toEqual(['order-1042']);
});
