// The sandbox, the SDK and the description speak of one gateway: every call, answer and callback is held to it.
import { createHmac } from 'node:crypto';
import {
  DEPOSIT_METHODS,
  GatewayClient,
  NFT_METHODS,
  ONRAMP_METHODS,
  type PaymentRequest,
  WITHDRAWAL_METHODS,
} from 'payment-gateway-sdk';
import { Sandbox, type SandboxOptions } from 'payment-gateway-sdk/sandbox';
import { afterEach, describe, expect, it } from 'vitest';
import { OTHER_ID, webhookUrl } from '../support/fixtures.ts';
import { contractOf, readDescription } from './contract.ts';

const description = readDescription('gateway.json');
const contract = contractOf(description);
const API = 'http://sandbox.localhost/api/v1/payments';

/** What was said, to whomever, that is not as described. */
const found: string[] = [];
afterEach(() => expect(found.splice(0)).toEqual([]));

function open<T extends 'standard' | 'onramp' = 'onramp'>(options: SandboxOptions<T> = {}) {
  const sandbox = new Sandbox({
    terminal: 'onramp' as T,
    ...options,
    fetch: async (_, { headers, body }) => {
      found.push(...contract.webhookProblems('paymentStatus', new Headers(headers), String(body)));
      return new Response();
    },
  });
  const fetch = contract.watch(sandbox.fetch, found);
  return { sandbox, fetch, gateway: new GatewayClient({ ...sandbox.clientOptions, fetch }) };
}

const METHODS = [
  ...DEPOSIT_METHODS.map(paymentMethod => ['standard', 'DEPOSIT', paymentMethod] as const),
  ...ONRAMP_METHODS.map(paymentMethod => ['onramp', 'DEPOSIT', paymentMethod] as const),
  ...WITHDRAWAL_METHODS.map(paymentMethod => ['standard', 'WITHDRAWAL', paymentMethod] as const),
];

/** As little as a request must say, and as much as it can. */
const BARE = { amount: 1, currency: 'EUR', callbackUrl: webhookUrl };
const APPLE_PAY = { reference: null, returnUrl: null, billingAddress: { countryCode: 'US' } };
const FULL = {
  amount: '25.50',
  currency: 'EUR',
  externalApiId: 'external-1',
  reference: 'order/1 é 😀',
  description: 'Zamówienie',
  customer: { firstName: 'Zoë', email: 'zoe@customer.example', dateOfBirth: null, referenceId: 7, further: true },
  billingAddress: { countryCode: 'PL', city: 'Łódź', state: null },
  additionalParameters: { purpose: 'books' },
  browser: { language: 'pl' },
  returnUrl: 'https://shop.example/thanks',
  webhookUrl,
  callbackUrl: null,
};

/** Every way in which a payment ends. */
const ENDS: [string, (sandbox: Sandbox<'standard' | 'onramp'>, id: string) => Promise<unknown>][] = [
  ['completed', (sandbox, id) => sandbox.complete(id)],
  ['canceled', (sandbox, id) => sandbox.cancel(id)],
  ['failed', (sandbox, id) => sandbox.fail(id)],
  ['failed with a code', (sandbox, id) => sandbox.fail(id, { code: 4004 })],
  ['failed with a reason', (sandbox, id) => sandbox.fail(id, { reason: 'Payment not funded' })],
];

describe.each(['wrapped', 'unwrapped'] as const)('where answers are %s', shape => {
  it.each(METHODS)(
    'on a terminal that is %s, a %s by %s is as described',
    async (terminal, paymentType, paymentMethod) => {
      const { sandbox, gateway } = open({ terminal, shape });
      const kind = { paymentType, paymentMethod };
      const bare = paymentMethod === 'APPLEPAY' ? { ...BARE, ...APPLE_PAY } : BARE;
      for (const fields of [FULL, bare]) {
        const { payment } = await gateway.createPayment({ ...kind, ...fields } as PaymentRequest);
        await gateway.getPayment(payment.id);
        await sandbox.complete(payment.id);
        await gateway.getPayment(payment.id);
      }
      await sandbox.idle();
      expect(sandbox.deliveries.map(({ status }) => status)).toEqual([200, 200]);
    },
  );

  it.each(ENDS)('a payment that is authorised and then %s is as described', async (_, end) => {
    const { sandbox, gateway } = open({ shape });
    for (const paymentMethod of ['CARD', 'GOOGLEPAY', 'PAYID', 'USER_CHOICE'] as const) {
      const { payment } = await gateway.createDeposit({ ...FULL, paymentMethod });
      await sandbox.authorize(payment.id);
      await gateway.getPayment(payment.id);
      await end(sandbox, payment.id);
      await gateway.getPayment(payment.id);
    }
    await sandbox.idle();
    expect(sandbox.deliveries).toHaveLength(8);
  });

  it.each(NFT_METHODS)('an NFT purchase by %s is as described', async paymentMethod => {
    const { gateway } = open({ shape });
    const { payment } = await gateway.createNftPurchase({ ...FULL, paymentMethod });
    expect(payment.paymentMethod).toBe(paymentMethod);
  });

  it('a PayID deposit with a redirect is as described', async () => {
    const { gateway } = open({ shape, payid: 'redirect' });
    const { nextAction } = await gateway.createDeposit({ ...FULL, paymentMethod: 'PAYID' });
    // The variant without a wrapper is described without a redirectUrl.
    expect(nextAction.type).toBe(shape === 'wrapped' ? 'redirect' : 'wait');
  });
});

describe('a refusal is as described', () => {
  const authorization = 'Bearer sandbox-api-key';
  const signed = (body: string) => createHmac('sha256', 'sandbox-sign-key').update(body).digest('hex');
  const body = JSON.stringify({ paymentType: 'DEPOSIT', paymentMethod: 'CARD', ...BARE });

  it.each([
    ['without credentials', {}, body, 401],
    ['without a signature', { authorization }, body, 401],
    ['with another signature', { authorization, signature: signed('') }, body, 401],
    ['without an amount', { authorization, signature: signed('{}') }, '{}', 422],
    ['that is no JSON', { authorization, signature: signed('no') }, 'no', 422],
  ])('of a create %s', async (_, headers, body, status) => {
    const response = await open().fetch(API, { method: 'POST', headers: headers as Record<string, string>, body });
    expect(response.status).toBe(status);
  });

  it.each([
    ['without credentials', {}, OTHER_ID, 401],
    ['of an unknown id', { authorization }, OTHER_ID, 404],
    ['of an id that is none', { authorization }, 'order-1', 404],
  ])('of a lookup %s', async (_, headers, id, status) => {
    const response = await open().fetch(`${API}/${id}`, { headers: headers as Record<string, string> });
    expect(response.status).toBe(status);
  });
});

describe('the description', () => {
  const fieldsOf = (...components: string[]) =>
    components.flatMap(name => Object.keys(description.components.schemas[name]?.properties ?? {}));

  /** Each record that the sandbox has answered or posted, by its status. */
  async function told() {
    const { sandbox, gateway, fetch } = open();
    const records: Record<string, unknown>[] = [];
    for (const paymentMethod of ['USER_CHOICE', 'GOOGLEPAY'] as const) {
      for (const [, end] of ENDS) {
        const { payment } = await gateway.createDeposit({ ...FULL, paymentMethod });
        await sandbox.authorize(payment.id);
        await end(sandbox, payment.id);
        const headers = { authorization: 'Bearer sandbox-api-key' };
        const { result } = (await (await fetch(`${API}/${payment.id}`, { headers })).json()) as { result: never };
        records.push(payment as never, result);
      }
    }
    await sandbox.idle();
    return [...records, ...sandbox.deliveries.map(({ body }) => JSON.parse(body))];
  }

  it('has each field that the sandbox sends in its status, and no field that it never sends', async () => {
    const records = await told();
    const sent = new Set<string>();
    for (const record of records) {
      const status = String(record.paymentStatus);
      const variant = `${status.charAt(0)}${status.slice(1).toLowerCase()}Payment`;
      const described = fieldsOf('PaymentFields', variant);
      expect(Object.keys(record).filter(name => !described.includes(name))).toEqual([]);
      for (const name of Object.keys(record)) sent.add(name);
    }
    expect([...sent].sort()).toEqual([...new Set(fieldsOf('PaymentFields', 'FailedPayment'))].sort());
  });

  it('has each field of the transfer of a PayID deposit', async () => {
    const { gateway } = open();
    const { nextAction } = await gateway.createDeposit({ ...BARE, paymentMethod: 'PAYID' });
    expect(nextAction.type).toBe('transfer');
    // The names of the gateway's document, typed off by hand.
    const names = 'number full_holder_name payment_description amount currency uuid order_id';
    expect(fieldsOf('Transfer').join(' ')).toBe(names);
  });
});
