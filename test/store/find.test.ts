// What gateway.find returns of a reference: enough to show an order's page again, without a call of the gateway.
import { GatewayClient, type GatewayEvent, memoryStore } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { expect, it } from 'vitest';

const order = {
  amount: '25.50',
  currency: 'EUR',
  reference: 'order-1',
  webhookUrl: 'https://shop.example/callbacks',
  returnUrl: 'https://shop.example/thanks',
} as const;

function open() {
  const events: GatewayEvent[] = [];
  const sandbox = new Sandbox({ fetch: async () => new Response() });
  const options = { ...sandbox.clientOptions, store: memoryStore(), retries: 0 };
  const gateway = new GatewayClient({ ...options, onEvent: event => void events.push(event) });
  return { sandbox, gateway, events };
}

it('where the customer is to pay, as the create has answered it, and no call is made for it', async () => {
  const { gateway, events } = open();
  const { payment, nextAction } = await gateway.createDeposit({ ...order, paymentMethod: 'CARD' });
  events.length = 0;
  expect(nextAction.type).toBe('redirect');
  expect(await gateway.find('order-1')).toMatchObject({ state: 'created', paymentId: payment.id, nextAction });
  expect(events).toEqual([]);
});

it('how the customer is to transfer', async () => {
  const { gateway } = open();
  const payid = { ...order, paymentMethod: 'PAYID', currency: 'AUD' } as const;
  const { nextAction } = await gateway.createDeposit(payid);
  expect(nextAction.type).toBe('transfer');
  expect(await gateway.find('order-1')).toMatchObject({ nextAction });
});
