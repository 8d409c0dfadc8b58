// What happens later, tested with Vitest in TypeScript: a sweep, a drain, and an operator who settles a doubt.
import { createWebhookHandler, GatewayClient, isGatewayError, isPaid, memoryJournal } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { beforeEach, expect, test } from 'vitest';

let sandbox: Sandbox;
let now: number;
let paid: unknown[];

/** What each test begins with. */
function openShop() {
  const journal = memoryJournal({ scope: 'eu-terminal', now: () => now }); // a clock that the test moves
  const gateway = new GatewayClient({ ...sandbox.clientOptions, journal, timeout: 5_000 });
  const handler = createWebhookHandler({
    gateway,
    onPayment: payment => {
      if (payment.paymentType === 'DEPOSIT' && isPaid(payment)) paid.push(payment.reference);
    },
  });
  return { journal, gateway, handler };
}
let shop: ReturnType<typeof openShop>;

beforeEach(() => {
  now = Date.UTC(2026, 10, 21);
  paid = [];
  sandbox = new Sandbox({ fetch: (url, init) => shop.handler(new Request(url, init)) });
  shop = openShop();
});

const webhookUrl = 'https://shop.example/callbacks';
const order = { paymentMethod: 'CARD', amount: '25.50', currency: 'EUR', reference: 'order-1042', webhookUrl } as const;
const payout = {
  paymentMethod: 'SEPA',
  amount: '120.00',
  currency: 'EUR',
  reference: 'payout-77',
  webhookUrl,
} as const;

test('a sweep finds the payment whose callback was lost', async () => {
  const { payment } = await shop.gateway.createDeposit(order);
  sandbox.faults.next('callback-lose');
  await sandbox.complete(payment.id);
  await sandbox.idle();
  expect(paid).toEqual([]);
  // Without olderThan, a sweep leaves the first minute to the callback.
  expect(await shop.gateway.sweep({ handler: shop.handler, olderThan: 0 })).toMatchObject({ processed: 1 });
  expect(paid).toEqual(['order-1042']);
});

test('a drain sends a planned payout, and once only', async () => {
  const tx = undefined; // memoryJournal plans at once; postgresJournal needs your transaction
  await shop.journal.plan(tx, { ...payout, paymentType: 'WITHDRAWAL' });
  expect(sandbox.payments).toEqual([]);
  expect(await shop.gateway.drain()).toMatchObject({ created: 1 });
  expect(await shop.gateway.drain()).toMatchObject({ created: 0 });
  expect(sandbox.payments).toMatchObject([{ reference: 'payout-77', paymentType: 'WITHDRAWAL' }]);
});

test('a plan that cannot be sent is kept', async () => {
  await shop.journal.plan(undefined, { ...payout, paymentType: 'WITHDRAWAL' });
  sandbox.faults.next('reject-429');
  expect(await shop.gateway.drain()).toMatchObject({ created: 0, postponed: 1 });
  expect(await shop.gateway.find('payout-77')).toMatchObject({ state: 'planned' });
});

test('an operator settles a create that never arrived', async () => {
  sandbox.faults.next('drop'); // nobody knows whether the gateway has it
  const error = await shop.gateway.createWithdrawal(payout).catch((error: unknown) => error);
  expect(isGatewayError(error) && error.outcome).toBe('unknown');
  await expect(shop.gateway.settle('payout-77', 'not_created')).rejects.toThrow('Too early');
  now += 5_000 + 600_000 + 1; // the client's timeout, the journal's settleMargin, and a moment
  await shop.gateway.settle('payout-77', 'not_created');
  await shop.gateway.createWithdrawal(payout);
  expect(sandbox.payments).toHaveLength(1);
});

test('an operator names the payment of a doubt', async () => {
  sandbox.faults.next('commit-then-drop'); // the gateway has it, and its answer is lost
  await shop.gateway.createWithdrawal(payout).catch(() => {});
  const [payment] = sandbox.payments;
  await shop.gateway.settle('payout-77', payment?.id ?? '');
  expect(await shop.gateway.inDoubt()).toEqual([]);
});
