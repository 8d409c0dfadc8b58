// A merchant's checkout, tested with node:test, over real HTTP.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { createWebhookHandler, GatewayClient, isPaid, toNodeHandler } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';

const sandbox = new Sandbox();
const server = await sandbox.listen();
const gateway = new GatewayClient(server.clientOptions);

const paid = [];
const onPayment = payment => {
  if (payment.paymentType === 'DEPOSIT' && isPaid(payment)) paid.push(payment.reference);
};
const app = createServer(toNodeHandler(createWebhookHandler({ gateway, onPayment })));
await new Promise(resolve => app.listen(0, '127.0.0.1', resolve));
after(() => Promise.all([server.close(), app.close()]));

test('an order is paid once the customer has paid on the hosted page', async () => {
  const { nextAction } = await gateway.createDeposit({
    paymentMethod: 'CARD',
    amount: '25.50',
    currency: 'EUR',
    reference: 'order-1042',
    webhookUrl: `http://127.0.0.1:${app.address().port}/callbacks`,
    returnUrl: 'https://shop.example/thanks',
  });
  const answer = await fetch(nextAction.redirectUrl, {
    method: 'POST', // what the page's button does
    body: new URLSearchParams({ act: 'pay' }),
    redirect: 'manual',
  });
  assert.equal(answer.headers.get('location'), 'https://shop.example/thanks');
  await sandbox.idle();
  assert.deepEqual(paid, ['order-1042']);
});
