// The growth of the heap over 200,000 creates, and over as many callbacks of open payments.
import { randomUUID } from 'node:crypto';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { createWebhookHandler, GatewayClient } from 'payment-gateway-sdk';
import { quickGateway } from './quick-gateway.ts';
import { type Line, timeCalls } from './statistics.ts';

const CALLS = 200_000;
const WARM_UP = 20_000;

/** Megabytes that are left after collections, each with time for its finalizers. */
async function heap(): Promise<number> {
  for (let collections = 0; collections < 4; collections++) {
    global.gc?.();
    await wait(200);
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1e6;
}

async function growth(call: (index: number) => Promise<unknown>): Promise<number> {
  await timeCalls(WARM_UP, 64, call);
  const before = await heap();
  for (let part = 0; part < 10; part++) await timeCalls(CALLS / 10, 64, call);
  return (await heap()) - before;
}

export async function memory(): Promise<Line[]> {
  if (!global.gc) throw new Error('Run node with --expose-gc.');
  const recordOf = (id: string) => ({
    id,
    paymentStatus: 'PENDING',
    paymentType: 'DEPOSIT',
    amount: 1,
    currency: 'EUR',
  });
  const { options } = quickGateway(recordOf, false);
  // As with every real answer, the event loop turns: until then Node keeps the target of each WeakRef.
  const fetch: typeof options.fetch = (...call) => turn().then(() => options.fetch(...call));
  const gateway = new GatewayClient({ ...options, fetch });
  const handler = createWebhookHandler({ gateway, onPayment: () => {}, onEvent: () => {} });
  const ids = Array.from({ length: 100 }, () => randomUUID());
  const callBack = async (index: number) => {
    const body = JSON.stringify(recordOf(ids[index % ids.length] ?? ''));
    const { status } = await handler(new Request('https://shop.example', { method: 'POST', body }));
    if (status !== 200) throw new Error(`A callback was answered ${status}.`);
  };
  const payment = { paymentMethod: 'CARD', amount: '25.50', currency: 'EUR' } as const;
  const creates = await growth(() => gateway.createDeposit(payment));
  const callbacks = await growth(callBack);
  const lineOf = (what: string, grown: number): Line => ({ what, unit: 'MB more heap', ours: [grown], most: 2 });
  return [lineOf('200,000 creates', creates), lineOf('200,000 callbacks', callbacks)];
}
