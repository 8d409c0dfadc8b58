// Whether a full sandbox is slower than a fresh one: the cost of a create, first and after ten thousand payments.
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';

const PAYMENTS = 10_000;
const BATCH = 100;

const open = () => new Sandbox({ fetch: async () => new Response() });
const request = {
  paymentMethod: 'CARD',
  amount: '25.50',
  currency: 'EUR',
  webhookUrl: 'https://shop.example/callbacks',
} as const;

/** Milliseconds for a batch of creates, each completed and called back. */
async function batch(sandbox: Sandbox): Promise<number> {
  const gateway = new GatewayClient(sandbox.clientOptions);
  const begun = performance.now();
  for (let count = 0; count < BATCH; count++) {
    const { payment } = await gateway.createDeposit(request);
    await sandbox.complete(payment.id);
  }
  await sandbox.idle();
  return performance.now() - begun;
}

/** What is left when the machine does nothing else. */
const quickest = (times: number[]) => Math.min(...times);

/** Microseconds for each of the first payments of a sandbox, and for each of those after ten thousand. */
export async function sandboxes(): Promise<{ first: number; last: number }> {
  // The first hundreds of a process are those of the compiler: another sandbox takes them.
  const warm = open();
  for (let count = 0; count < 20; count++) await batch(warm);
  const sandbox = open();
  const times: number[] = [];
  while (sandbox.payments.length < PAYMENTS) times.push(await batch(sandbox));
  const each = (times: number[]) => (quickest(times) * 1000) / BATCH;
  return { first: each(times.slice(0, 5)), last: each(times.slice(-5)) };
}

if (import.meta.main) console.log(await sandboxes());
