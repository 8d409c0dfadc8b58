// One suite, three ways to reach the sandbox: the client must not notice which.

import { HttpResponse, http, passthrough } from 'msw';
import { setupServer } from 'msw/node';
import { createdAt, GatewayClient, isPaid, type Payment, parseWebhook } from 'payment-gateway-sdk';
import { Sandbox, type SandboxOptions } from 'payment-gateway-sdk/sandbox';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { CARD, errorOf } from './support/fixtures.ts';
import { openShop, type Shop } from './support/shop.ts';

type Reach = (sandbox: Sandbox<'onramp'>) => Promise<GatewayClient<'onramp'>>;

const inProcess: Reach = async sandbox => new GatewayClient(sandbox.clientOptions);

const overHttp: Reach = async sandbox => {
  const server = await sandbox.listen();
  onTestFinished(() => server.close());
  return new GatewayClient({ ...sandbox.clientOptions, baseUrl: server.url, fetch: undefined });
};

const throughMsw: Reach = async sandbox => {
  const server = setupServer(
    http.all('https://gateway.example/*', ({ request }) => sandbox.fetch(request).catch(HttpResponse.error)),
    http.all('http://127.0.0.1:*', () => passthrough()),
  );
  server.listen({ onUnhandledFrame: 'error' });
  onTestFinished(() => server.close());
  return new GatewayClient({ ...sandbox.clientOptions, baseUrl: 'https://gateway.example', fetch: undefined });
};

describe.each<[string, Reach]>([
  ['in process', inProcess],
  ['over real HTTP', overHttp],
  ['through msw', throughMsw],
])('%s', (_, reach) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
  });
  afterAll(() => shop.close());

  async function open(options: Omit<SandboxOptions<'onramp'>, 'terminal'> = {}) {
    const sandbox = new Sandbox({ terminal: 'onramp', ...options });
    return { sandbox, gateway: await reach(sandbox), webhookUrl: `${shop.url}/callbacks` };
  }

  /** The latest callback, parsed. */
  const lastCallback = async (sandbox: Sandbox<'onramp'>): Promise<Payment> => {
    await sandbox.idle();
    return parseWebhook(shop.posts.at(-1)?.body ?? '');
  };

  it('a card deposit redirects, completes, and is called back', async () => {
    const { sandbox, gateway, webhookUrl } = await open();
    const { payment, nextAction } = await gateway.createDeposit({
      ...CARD,
      reference: 'order/1 é 😀',
      customer: { firstName: 'Zoë', email: 'zoe@customer.example' },
      webhookUrl,
    });
    expect(payment).toMatchObject({ paymentStatus: 'PENDING', amount: 25.5, reference: 'order/1 é 😀' });
    expect(nextAction).toEqual({ type: 'redirect', redirectUrl: expect.stringMatching(/^https?:\/\/.*\/pay\//) });
    expect(Math.abs(Date.now() - (createdAt(payment)?.getTime() ?? 0))).toBeLessThan(60_000);

    await sandbox.complete(payment.id);
    expect(await lastCallback(sandbox)).toMatchObject({
      id: payment.id,
      paymentStatus: 'COMPLETED',
      reference: 'order/1 é 😀',
      customer: { firstName: 'Zoë', email: 'zoe@customer.example' },
    });
    const looked = await gateway.getPayment(payment.id);
    expect(isPaid(looked) && looked.settled_crypto_amount).toEqual(expect.any(Number));
  });

  it('an on-ramp deposit is quoted and settled in crypto', async () => {
    const { sandbox, gateway, webhookUrl } = await open();
    const { payment } = await gateway.createDeposit({
      paymentMethod: 'USER_CHOICE',
      amount: '540.00',
      currency: 'BRL',
      additionalParameters: { destination_wallet: '0x71c7' },
      webhookUrl,
    });
    expect(payment.cryptoAmount).toMatch(/^\d+\.\d{8}$/);
    await sandbox.complete(payment.id);
    expect(await gateway.waitForPayment(payment.id)).toMatchObject({
      paymentMethod: 'USER_CHOICE',
      destination_wallet: '0x71c7',
      settled_crypto_amount: Number(payment.cryptoAmount),
      crypto_tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
  });

  it.each([
    ['drop', 0, undefined],
    ['commit-then-drop', 1, undefined],
    ['commit-then-cut', 1, expect.stringMatching(/^[0-9a-f-]{36}$/)],
  ] as const)('the fault %s leaves %i payments and an honest error', async (fault, count, paymentId) => {
    const { sandbox, gateway, webhookUrl } = await open();
    sandbox.faults.next(fault);
    const request = { paymentMethod: 'SEPA', amount: 75, currency: 'EUR', webhookUrl } as const;
    const error = await errorOf(gateway.createWithdrawal(request));
    expect(error).toMatchObject({ name: 'ConnectionError', outcome: 'unknown' });
    expect((error as { paymentId?: string }).paymentId).toEqual(paymentId);
    expect(sandbox.payments).toHaveLength(count);
    if (paymentId) expect((error as { paymentId?: string }).paymentId).toBe(sandbox.payments[0]?.id);
    await expect(gateway.createWithdrawal(request)).resolves.toHaveProperty('payment.amount', 75);
  });
});
