// The cost of a create in a fresh sandbox, and in one with ten thousand payments.
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';

const PAYMENTS = 10_000;
const BATCH = 100;
const request = {
  paymentMethod: 'CARD',
  amount: '25.50',
  currency: 'EUR',
  webhookUrl: 'https://shop.example/callbacks',
} as const;

/** Fills a sandbox. @returns microseconds for each payment of each batch: created, completed and called back */
async function fill(payments: number): Promise<number[]> {
  const sandbox = new Sandbox({ fetch: async () => new Response() });
  const gateway = new GatewayClient(sandbox.clientOptions);
  const times: number[] = [];
  while (sandbox.payments.length < payments) {
    const begun = performance.now();
    for (let count = 0; count < BATCH; count++) {
      const { payment } = await gateway.createDeposit(request);
      await sandbox.complete(payment.id);
    }
    await sandbox.idle();
    times.push(((performance.now() - begun) * 1000) / BATCH);
  }
  return times;
}

/** Microseconds for each of the first payments, and of the last. The fastest batch is the least disturbed. */
export async function sandboxes(): Promise<{ first: number; last: number }> {
  await fill(20 * BATCH);
  const times = await fill(PAYMENTS);
  return { first: Math.min(...times.slice(0, 5)), last: Math.min(...times.slice(-5)) };
}

if (import.meta.main) console.log(await sandboxes());
