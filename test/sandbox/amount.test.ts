// A payment that is completed with less or more than requested, from everywhere; the SDK sends it to a review.
import { createWebhookHandler, GatewayClient, memoryStore } from 'payment-gateway-sdk';
import { readScenario, Sandbox } from 'payment-gateway-sdk/sandbox';
import { expect, it, onTestFinished, vi } from 'vitest';
import { run } from '../../src/sandbox/cli/program.ts';
import { CARD } from '../support/fixtures.ts';

const HERE = 'http://sandbox.localhost';

/** A shop with a payment of 25.5 EUR. */
async function open() {
  const [paid, onReview] = [vi.fn(), vi.fn()];
  const sandbox: Sandbox = new Sandbox({ fetch: (url, init) => handler(new Request(url, init)) });
  const webhookUrl = 'http://127.0.0.1:1/callbacks';
  const gateway = new GatewayClient({ ...sandbox.clientOptions, store: memoryStore(), webhookUrl });
  const handler = createWebhookHandler({ gateway, onPaid: paid, onReview, onError: () => {} });
  const { payment } = await gateway.createDeposit({ ...CARD, amount: '25.50', reference: 'order-1' });
  return { sandbox, gateway, paid, onReview, id: payment.id };
}
type Opened = Awaited<ReturnType<typeof open>>;

const post = (sandbox: Sandbox, path: string, form: Record<string, string>) =>
  sandbox.fetch(HERE + path, { method: 'POST', body: new URLSearchParams(form) });

const WAYS: Record<string, (opened: Opened, amount: number) => unknown> = {
  'the class': ({ sandbox, id }, amount) => sandbox.complete(id, { amount }),
  'the API': ({ sandbox, id }, amount) =>
    sandbox.fetch(`${HERE}/_sandbox/payments/${id}/moves`, {
      method: 'POST',
      body: JSON.stringify({ move: 'complete', amount }),
    }),
  'the command': async ({ sandbox }, amount) => {
    const { url, close } = await sandbox.listen();
    onTestFinished(close);
    vi.spyOn(console, 'log').mockImplementation(() => {});
    await run(['complete', 'order-1', '--amount', String(amount), '--url', url]);
  },
  'the dashboard': ({ sandbox, id }, amount) =>
    post(sandbox, `/forms/POST/payments/${id}/moves`, { move: 'complete', amount: String(amount) }),
  "the customer's page": ({ sandbox, id }, amount) =>
    post(sandbox, `/pay/${id}`, { act: 'pay', amount: String(amount) }),
};

it.each(
  Object.keys(WAYS).flatMap(way => [
    [way, 20],
    [way, 30.25],
  ]) as [string, number][],
)('%s completes with %d, and the SDK holds it for a review', async (way, amount) => {
  onTestFinished(() => void vi.restoreAllMocks());
  const opened = await open();
  await WAYS[way]?.(opened, amount);
  const { sandbox, gateway, paid, onReview, id } = opened;
  await sandbox.idle();
  expect(await gateway.getPayment(id)).toMatchObject({ paymentStatus: 'COMPLETED', amount });
  expect(JSON.parse(sandbox.deliveries[0]?.body ?? '')).toMatchObject({ amount });
  expect(sandbox.timeline(id)).toContainEqual(expect.objectContaining({ type: 'move', amount }));
  expect(paid).not.toHaveBeenCalled();
  expect(onReview.mock.calls).toMatchObject([[{ reason: 'amount_differs', payment: { id } }, {}]]);
});

it('the requested amount is paid, unless another one is given', async () => {
  const { sandbox, id, paid } = await open();
  await post(sandbox, `/pay/${id}`, { act: 'pay', amount: '' });
  await sandbox.idle();
  expect(paid).toHaveBeenCalledOnce();
});

it('a story pays another amount', async () => {
  const { payment } = await new Sandbox().play('deposit-underpaid');
  expect(payment).toMatchObject({ paymentStatus: 'COMPLETED', amount: 20 });
  await expect(
    readScenario(`
create: { paymentType: DEPOSIT, paymentMethod: CARD, amount: 25.5, currency: EUR }
steps:
  - move: cancel
    amount: 20
`),
  ).rejects.toThrow('steps[0] amount is not for "move: cancel", which takes force, expect');
});

it.each([0, -1, Number.NaN, '20' as never])('the amount %j is refused', async amount => {
  const { sandbox, id } = await open();
  await expect(sandbox.complete(id, { amount })).rejects.toThrow('sandbox.complete: amount must be a number above 0.');
  const form = await post(sandbox, `/forms/POST/payments/${id}/moves`, { move: 'complete', amount: 'much' });
  expect(form.status).toBe(422);
  expect(sandbox.payments).toMatchObject([{ paymentStatus: 'PENDING', amount: 25.5 }]);
});

it('an on-ramp settles the paid amount', async () => {
  const { payment } = await new Sandbox().play({
    create: { paymentType: 'DEPOSIT', paymentMethod: 'ONRAMP', amount: 540, currency: 'BRL' },
    steps: [{ move: 'complete', amount: 270 }],
  });
  expect(payment.settled_crypto_amount).toBeCloseTo(Number(payment.cryptoAmount) / 2, 7);
});
