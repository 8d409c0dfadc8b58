// Nothing that is printed, serialised or reported may hold a key, a signature, or what a customer entrusted to a shop.
import * as sdk from 'payment-gateway-sdk';
import { GatewayClient, type GatewayEvent, memoryStore, parseWebhook } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { CARD, errorOf, ID, OTHER_ID, record } from './support/fixtures.ts';
import { everythingIn } from './support/printed.ts';
import { type Answer, json, networkError, wire } from './support/wire.ts';

const apiKey = 'api-s3cr3t-key';
const signKey = 'sign-s3cr3t-key';
const email = 'zoe@customer.example';
const request = {
  ...CARD,
  reference: 'order/1',
  customer: { email, phone: '+48600000000' },
  billingAddress: { address1: 'Ulica 1/2', countryCode: 'PL' },
  additionalParameters: { iban: 'PL61109010140000071219812874' },
} as const;

/** A wrapper that hangs everything it knows onto its error, words and all. */
const careless: Answer = init => {
  const { headers, body } = init as { headers: Record<string, string>; body?: Uint8Array };
  const text = Buffer.from(body ?? []).toString();
  const words = `failed: ${JSON.stringify(headers)} ${text} ${email} ${request.additionalParameters.iban}`;
  const coded = Object.assign(new Error(`failed: ${JSON.stringify(headers)} ${text}`), { code: 'ERR_WRAPPER' });
  const errors = [new Error(words), coded];
  throw Object.assign(new AggregateError(errors, words, { cause: coded }), { init, headers, text });
};

let signature = '';
const events: GatewayEvent[] = [];

function client(answer: Answer, options: object = {}) {
  const { fetch } = wire(answer);
  return new GatewayClient({
    ...{ baseUrl: 'https://gateway.example', apiKey, signKey, retries: 0 },
    fetch: async (url, init) => {
      signature = new Headers(init.headers).get('signature') ?? signature;
      return fetch(url, init);
    },
    onEvent: event => events.push(event),
    ...options,
  });
}

/** The customer's data as an answer and as a callback hold it. */
const customerData = record('created card deposit');
const callback = record('completed CARD callback');

const errors: Record<string, () => Promise<unknown>> = {
  'InvalidRequestError, wrong fields': () =>
    client(json(customerData)).createDeposit({ ...request, currency: `${email} `, customer: { email: 7 } } as never),
  'InvalidRequestError, extra': () =>
    client(json(customerData)).createDeposit(request, { extra: { customer: { email } } }),
  'ApiError, create': () => client(json(`{"message":"no","email":"${email}"}`, 422)).createDeposit(request),
  'ApiError with an id': () => client(json(customerData, 500)).createDeposit(request),
  'ApiError, lookup': () => client(json(customerData, 403)).getPayment(ID),
  PaymentNotFoundError: () => client(json(`{"email":"${email}"}`, 404)).getPayment(OTHER_ID),
  'ConnectionError, system': () => client(networkError('ECONNRESET', 'read')).createDeposit(request),
  'ConnectionError, careless wrapper': () => client(careless).createDeposit(request),
  'ConnectionError, careless wrapper of a lookup': () => client(careless).getPayment(ID),
  'ConnectionError, timeout': () => client(() => new Promise(() => {})).createDeposit(request, { timeout: 5 }),
  'ConnectionError, aborted': () =>
    client(() => new Promise(() => {})).createDeposit(request, { signal: AbortSignal.timeout(5) }),
  DuplicateReferenceError: async () => {
    const store = memoryStore();
    await client(json(customerData), { store }).createDeposit(request);
    // Replayed without a lookup, which is a warning.
    await client(careless, { store }).createDeposit(request);
    return client(json(customerData), { store }).createDeposit({ ...request, customer: { email: 'x@a.example' } });
  },
  'PaymentInDoubtError, no id': async () => {
    const store = memoryStore();
    await errorOf(client(careless, { store }).createDeposit(request));
    return client(json(customerData), { store }).createDeposit(request);
  },
  'PaymentInDoubtError, lookup fails': async () => {
    const store = memoryStore();
    await errorOf(client(json(customerData, 500), { store }).createDeposit(request));
    return client(careless, { store }).createDeposit(request);
  },
  StoreError: () => {
    const write = async () => {
      throw Object.assign(new Error('no table'), { query: { values: [email] }, client: { apiKey } });
    };
    return client(json(customerData), { store: { ...memoryStore(), write } }).createDeposit(request, { timeout: 50 });
  },
  'ResponseError, HTML': () => client(json(`<html>${email}</html>`)).createDeposit(request),
  'ResponseError, another amount': () => client(json(customerData)).createDeposit({ ...request, amount: '9' }),
  'ResponseError, drift': () => client(json(customerData.replace('25.5', `"${email}"`))).createDeposit(request),
  'ResponseError, another payment': () => client(json(customerData)).getPayment(OTHER_ID),
  // With time for a look.
  WaitTimeoutError: () => client(json(customerData)).waitForPayment(ID, { timeout: 900 }),
  'WaitTimeoutError, no lookup': () => client(careless).waitForPayment(ID, { timeout: 5 }),
  'WebhookError, not_json': async () => parseWebhook(`${callback}x`),
  'WebhookError, wrapped': async () => parseWebhook(customerData),
  'WebhookError, invalid': async () => parseWebhook(callback.replace('25.5', `"${email}"`)),
  ConfigurationError: async () => client(json(''), { apiKey: `${apiKey}\n` }),
};

const SECRETS = ['s3cr3t', email, 'Zoë', 'Zo\\u00eb', 'Ulica', '600000000', '600 000', 'PL6110', '203.0.113.7'];

function expectNoSecretIn(value: unknown): void {
  const text = everythingIn(value);
  for (const secret of [...SECRETS, ...(signature ? [signature] : [])]) expect(text).not.toContain(secret);
}

describe('no secret leaks from', () => {
  it.each(Object.entries(errors))('%s', async (name, provoke) => {
    const error = await errorOf(provoke());
    expect((error as Error).name).toBe(name.split(/[ ,]/)[0]);
    expectNoSecretIn(error);
  });

  it('the events of all of them', async () => {
    events.length = 0;
    for (const provoke of Object.values(errors)) await errorOf(provoke());
    expect(events.length).toBeGreaterThan(20);
    expect(new Set(events.map(({ type }) => type))).toEqual(
      new Set(['request', 'response', 'success', 'failure', 'store', 'warning']),
    );
    for (const event of events) expectNoSecretIn(event);
  });

  it('the client', () => {
    expectNoSecretIn(client(json('')));
  });
});

it('every error class of the SDK is provoked here', () => {
  const classes = Object.keys(sdk).filter(name => name.endsWith('Error') && !/^is|^Gateway/.test(name));
  expect(new Set(Object.keys(errors).map(name => name.split(/[ ,]/)[0]))).toEqual(new Set(classes));
});
