// A merchant's checkout, tested with Jest, in CommonJS.
const { createWebhookHandler, GatewayClient, isPaid } = require('payment-gateway-sdk');
const { Sandbox } = require('payment-gateway-sdk/sandbox');

let paid;
const sandbox = new Sandbox({
  seed: 'checkout',
  fetch: (url, init) => callbacks(new Request(url, init)),
});
const gateway = new GatewayClient(sandbox.clientOptions);
let callbacks;

beforeEach(() => {
  paid = [];
  sandbox.reset(); // no payments, no faults, and the ids from the first one again
  callbacks = createWebhookHandler({
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

test('an order is paid once, however often its callback comes', async () => {
  const { payment } = await gateway.createDeposit(order);
  sandbox.faults.next('callback-duplicate');
  await sandbox.complete(payment.id);
  await sandbox.idle();
  expect(sandbox.deliveries.map(({ status }) => status)).toEqual([200, 200]);
  expect(paid).toEqual(['order-1042']);
});

test('a forged callback has no effect', async () => {
  const { payment } = await gateway.createDeposit(order);
  sandbox.faults.next('callback-forge');
  await sandbox.authorize(payment.id);
  await sandbox.idle();
  expect(sandbox.deliveries.map(({ status }) => status)).toEqual([503, 200]); // the record says otherwise
  expect(paid).toEqual([]);
});
