// A merchant's own tests over memoryStore, as docs/testing.md advises: lost callbacks, planned payouts, settled doubts.
import { createWebhookHandler, GatewayClient, isGatewayError, memoryStore } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { beforeEach, expect, test } from 'vitest';

let sandbox: Sandbox;
let now: number;
let ended: string[];

/** The start of each test. */
function openShop() {
  const store = memoryStore({ now: () => now }); // a clock that the test moves
  const webhookUrl = 'https://shop.example/callbacks';
  const gateway = new GatewayClient({ ...sandbox.clientOptions, store, webhookUrl, timeout: 5_000 });
  const handler = createWebhookHandler({
    gateway,
    onPaid: ({ order }) => ended.push(`${order} paid`),
    onPaidOut: ({ reference }) => ended.push(`${reference} paid out`),
  });
  const upkeep = () => gateway.upkeep({ handler, once: true, olderThan: 0 }); // by default it leaves 1 min to the callback
  return { gateway, handler, upkeep };
}
let shop: ReturnType<typeof openShop>;

beforeEach(() => {
  now = Date.UTC(2026, 10, 21);
  ended = [];
  sandbox = new Sandbox({ fetch: (url, init) => shop.handler(new Request(url, init)) });
  shop = openShop();
});

const order = { paymentMethod: 'CARD', amount: '25.50', currency: 'EUR' } as const;
const payout = { paymentMethod: 'SEPA', amount: '120.00', currency: 'EUR', reference: 'payout-77' } as const;

test('upkeep finds the payment whose callback was lost', async () => {
  const { payment } = await shop.gateway.checkout('order-1042', order);
  sandbox.faults.next('callback-lose');
  await sandbox.complete(payment?.id ?? '');
  await sandbox.idle();
  expect(ended).toEqual([]);
  expect(await shop.upkeep()).toMatchObject({ swept: { processed: 1 } });
  expect(ended).toEqual(['order-1042 paid']);
});

test('upkeep sends a planned payout once', async () => {
  await shop.gateway.payOut({}, payout); // memoryStore plans immediately; postgresStore needs your transaction
  expect(sandbox.payments).toEqual([]);
  expect(await shop.upkeep()).toMatchObject({ sent: { created: 1 } });
  expect(await shop.upkeep()).toMatchObject({ sent: { created: 0 } });
  expect(sandbox.payments).toMatchObject([{ reference: 'payout-77', paymentType: 'WITHDRAWAL' }]);
});

test('a busy gateway postpones a payout', async () => {
  await shop.gateway.payOut({}, payout);
  sandbox.faults.next('reject-429');
  expect(await shop.upkeep()).toMatchObject({ sent: { created: 0, postponed: 1 } });
  expect(await shop.gateway.find('payout-77')).toMatchObject({ state: 'planned' });
});

test('an operator settles a create that never arrived', async () => {
  sandbox.faults.next('drop'); // the SDK cannot know that the gateway never got it
  const error = await shop.gateway.createWithdrawal(payout).catch((error: unknown) => error);
  expect(isGatewayError(error) && error.outcome).toBe('unknown');
  await expect(shop.gateway.settle('payout-77', 'not_created')).rejects.toThrow('Too early');
  now += 5_000 + 600_000 + 1; // the client's timeout, the store's settleMargin, and 1 ms
  await shop.gateway.settle('payout-77', 'not_created');
  await shop.gateway.createWithdrawal(payout);
  expect(sandbox.payments).toHaveLength(1);
});

test('an operator names the payment of a doubt, and upkeep applies it', async () => {
  sandbox.faults.next('commit-then-drop'); // the gateway has it, and its answer is lost
  await shop.gateway.createWithdrawal(payout).catch(() => {});
  const id = sandbox.payments[0]?.id ?? '';
  sandbox.faults.next('callback-lose');
  await sandbox.complete(id);
  await shop.gateway.settle('payout-77', id);
  expect(await shop.gateway.doubts()).toEqual([]);
  await shop.upkeep();
  expect(ended).toEqual(['payout-77 paid out']);
});
