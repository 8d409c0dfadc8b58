// What a store cannot keep as a reference or a scope: the same in every store, so that tests in memory match production.
import { createWebhookHandler, GatewayClient, memoryStore, type WebhookHandler } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it } from 'vitest';
import { errorOf, PAYOUT } from '../support/fixtures.ts';

const LONGEST = 'x'.repeat(1_020);
const UNKEPT = {
  'longer than 1,020 bytes': `${LONGEST}x`,
  'longer than 1,020 bytes, in 511 letters': 'é'.repeat(511),
  'with a NUL': 'order\0',
};

/** A shop whose database answers an error to every question about such a reference. */
function openShop() {
  const statuses: number[] = [];
  const effects: string[] = [];
  const deliver = async (url: string, init: RequestInit): Promise<Response> => {
    const response = await handler(new Request(url, init));
    statuses.push(response.status);
    return response;
  };
  const sandbox = new Sandbox({ fetch: deliver });
  const memory = memoryStore({ scope: 'eu' });
  const strict =
    <A extends { id: string }, R>(ask: (key: A, ...rest: never[]) => Promise<R>) =>
    async (key: A, ...rest: never[]) => {
      if (Buffer.byteLength(key.id) > 1_020 || key.id.includes('\0')) throw new Error('value too long');
      return ask(key, ...rest);
    };
  const store = Object.assign(memory, { read: strict(memory.read), write: strict(memory.write) });
  const gateway = new GatewayClient({ ...sandbox.clientOptions, store });
  const handler: WebhookHandler = createWebhookHandler({
    gateway,
    onPayment: ({ paymentStatus }) => void effects.push(paymentStatus),
  });
  return { sandbox, gateway, statuses, effects };
}

/** Creates a payout that completes, and delivers its callbacks. */
async function pay(sandbox: Sandbox, gateway: GatewayClient, reference: string) {
  const { payment } = await gateway.createWithdrawal({ ...PAYOUT, reference });
  await sandbox.complete(payment.id);
  await sandbox.idle();
}

it.each(['s'.repeat(255), 'é'.repeat(127)])('a scope of 255 bytes is kept: %s', async scope => {
  const sandbox = new Sandbox();
  const gateway = new GatewayClient({ ...sandbox.clientOptions, store: memoryStore({ scope }) });
  await gateway.createWithdrawal(PAYOUT);
  expect(await gateway.createWithdrawal(PAYOUT)).toMatchObject({ replayed: true });
});

it('of 1,020 bytes is paid once', async () => {
  const { sandbox, gateway } = openShop();
  await gateway.createWithdrawal({ ...PAYOUT, reference: LONGEST });
  const again = await gateway.createWithdrawal({ ...PAYOUT, reference: LONGEST });
  expect([again.replayed, sandbox.payments.length]).toEqual([true, 1]);
});

it('of 1,020 bytes that is longer in lower case, as the gateway may fold it, gets its callbacks', async () => {
  const { sandbox, gateway, statuses, effects } = openShop();
  await pay(sandbox, new GatewayClient(sandbox.clientOptions), 'İ'.repeat(510));
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect([effects.at(-1), await gateway.doubts()]).toEqual(['COMPLETED', []]);
});

describe.each(Object.entries(UNKEPT))('%s', (_, reference) => {
  it('is refused before anything is written or sent, and is not in the store', async () => {
    const { sandbox, gateway } = openShop();
    const error = await errorOf(gateway.createWithdrawal({ ...PAYOUT, reference }));
    expect(error).toMatchObject({ name: 'InvalidRequestError', outcome: 'not_sent', issues: [{ path: 'reference' }] });
    expect(String(error)).toContain('at most 1,020 bytes of UTF-8 and no NUL');
    expect([sandbox.payments, await gateway.find(reference)]).toEqual([[], undefined]);
    await expect(gateway.settle(reference, 'not_created')).rejects.toThrow('is not in the store');
  });

  it('does not keep the callbacks of a payment that was made without the store from taking effect', async () => {
    const { sandbox, statuses, effects } = openShop();
    await pay(sandbox, new GatewayClient(sandbox.clientOptions), reference);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(effects.at(-1)).toBe('COMPLETED');
  });

  it('does not keep an operator from settling with a payment that the gateway has given it', async () => {
    const { sandbox, gateway } = openShop();
    sandbox.faults.next('commit-then-drop');
    await errorOf(gateway.createWithdrawal(PAYOUT));
    const { payment } = await new GatewayClient(sandbox.clientOptions).createWithdrawal({ ...PAYOUT, reference });
    await gateway.settle(PAYOUT.reference, payment.id, { despite: ['reference'] });
    expect((await gateway.find(PAYOUT.reference))?.paymentId).toBe(payment.id);
  });
});
