// Callbacks with and without the token of signCallbackUrls, over the sandbox.
import { inspect } from 'node:util';
import {
  type CallbackEvent,
  createWebhookHandler,
  GatewayClient,
  type GatewayEvent,
  memoryStore,
} from 'payment-gateway-sdk';
import { Sandbox, type SandboxOptions } from 'payment-gateway-sdk/sandbox';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CLIENT } from '../../src/webhooks/client-link.ts';
import { errorOf, OTHER_ID } from '../support/fixtures.ts';
import { whileTimePasses } from '../support/passing-time.ts';
import { completed, linked, notFound, openShop, post, SIGNED, signing } from './shop-callbacks.ts';

afterEach(() => void vi.useRealTimers());

const SHOP = 'https://shop.example/callbacks';
const CARD = { paymentMethod: 'CARD', amount: '25.50', currency: 'EUR', webhookUrl: SHOP } as const;
/** The token of another client. */
const FOREIGN = 'wpX1AOEwSm5aEcgRHFJe3g.IwBRj6LJsTex6YZMITMxCw';

/** A shop and its sandbox. */
function open(options: { sandbox?: SandboxOptions; client?: object; handler?: object } = {}) {
  const events: (CallbackEvent | GatewayEvent)[] = [];
  const errors: unknown[] = [];
  const paid: unknown[] = [];
  const seen: string[] = [];
  const sandbox: Sandbox = new Sandbox({
    ...(options.sandbox as SandboxOptions<'standard'>),
    fetch: async (url, init) => {
      const response = await handler(new Request(url, init));
      seen.push(`${response.status} ${await response.clone().text()}`);
      return response;
    },
  });
  const gateway = new GatewayClient({
    ...sandbox.clientOptions,
    signCallbackUrls: true,
    onEvent: event => void events.push(event),
    ...options.client,
  });
  const handler = createWebhookHandler({
    gateway,
    onPayment: payment => void paid.push(payment.reference),
    onError: error => void errors.push(error),
    onEvent: event => void events.push(event),
    ...options.handler,
  });
  const pay = async (reference: string | null) => {
    const { payment } = await gateway.createDeposit({ ...CARD, reference });
    await sandbox.complete(payment.id);
    await sandbox.idle();
    return payment;
  };
  return { sandbox, gateway, handler, events, errors, paid, seen, pay };
}

describe("unsigned: 'refuse'", () => {
  const refuse = { handler: { unsigned: 'refuse' } };

  it('accepts callbacks with their token, in every alphabet and without a reference', async () => {
    const { pay, seen, paid } = open(refuse);
    for (const reference of ['order-1', 'Zamówienie 5/8 łódź 😀', '注文・1', null]) await pay(reference);
    expect(seen).toEqual(Array(4).fill('200 handled'));
    expect(paid).toEqual(['order-1', 'Zamówienie 5/8 łódź 😀', '注文・1', null]);
  });

  it('answers 401 without a valid token, before it reads or looks anything up', async () => {
    const { handler, gateway, events, errors, paid } = open(refuse);
    const { payment } = await gateway.createDeposit({ ...CARD, reference: 'order-1' });
    events.length = 0;
    for (const url of [SHOP, `${SHOP}?callbackToken=${FOREIGN}`]) {
      const unread = new ReadableStream({ pull: () => new Promise(() => {}) });
      expect((await handler(post(unread, {}, url))).status).toBe(401);
      expect((await handler(post(JSON.stringify(payment), {}, url))).status).toBe(401);
    }
    expect(paid).toEqual([]);
    const message =
      'A callback came without the token that signCallbackUrls adds to its address, or with that of another payment. It may be forged.';
    expect(errors).toMatchObject(Array(4).fill({ name: 'WebhookError', code: 'unsigned', message, issues: [] }));
    expect(events).toMatchObject(
      Array(4).fill({ type: 'callback', result: 'refused', code: 'unsigned', httpStatus: 401 }),
    );
  });

  it('answers 401 to the token of another payment, after the lookup', async () => {
    const { gateway, handler, sandbox, errors, paid, seen, pay } = open(refuse);
    const other = await pay('order-2');
    const token = new URL(sandbox.deliveries[0]?.url ?? '').search;
    const { payment } = await gateway.createDeposit({ ...CARD, reference: 'order-1' });
    await sandbox.complete(payment.id);
    await sandbox.idle();
    paid.length = 0;
    const forged = await handler(post(JSON.stringify({ id: payment.id }), {}, `${SHOP}${token}`));
    expect([forged.status, paid, other.reference, seen.length]).toEqual([401, [], 'order-2', 2]);
    expect(errors).toMatchObject([{ code: 'unsigned', paymentId: payment.id }]);
  });

  it('answers 401 to the token of another payment also if the payment is found at the second lookup', async () => {
    const tokens = { ...signing()[CLIENT].tokens, isOf: () => false };
    let isKnown = false;
    const gateway = linked({ tokens, signCallbackUrls: true }, id => {
      const payment = isKnown ? Promise.resolve({ ...completed, id }) : notFound();
      isKnown = true;
      return payment;
    });
    const { reply, effects, lookups } = openShop({ unsigned: 'refuse', gateway });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const replying = reply(post(JSON.stringify({ id: OTHER_ID }), {}, SIGNED));
    expect(await whileTimePasses(replying, 20)).toBe('401 unsigned');
    expect([effects, lookups.length]).toEqual([[], 2]);
  });
});

describe("unsigned: 'limit'", () => {
  it('accepts the token of another payment, because the record counts', async () => {
    const { gateway, handler, sandbox, paid, pay } = open();
    await pay('order-2');
    const token = new URL(sandbox.deliveries[0]?.url ?? '').search;
    const { payment } = await gateway.createDeposit({ ...CARD, reference: 'order-1' });
    const reply = await handler(post(JSON.stringify({ id: payment.id }), {}, `${SHOP}${token}`));
    expect([reply.status, paid]).toEqual([200, ['order-2', 'order-1']]);
  });

  it('looks an unknown id up again for a valid token only', async () => {
    let isKnown = false;
    const gateway = signing(id => (isKnown ? Promise.resolve({ ...completed, id }) : notFound()));
    const { reply, lookups } = openShop({ gateway });
    const body = JSON.stringify({ id: OTHER_ID });
    expect(await reply(post(body))).toBe('503 unknown_payment');
    expect(lookups).toHaveLength(1);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const signed = reply(post(body, {}, SIGNED));
    while (lookups.length < 2) await new Promise(setImmediate);
    isKnown = true;
    expect(await whileTimePasses(signed, 20)).toBe('200 handled');
  });
});

it('no event, error, row or printed client contains the token', async () => {
  const store = memoryStore();
  const { sandbox, gateway, handler, events, errors, pay } = open({ client: { store } });
  await pay('order-1');
  sandbox.faults.next('reject-422');
  errors.push(await errorOf(gateway.createDeposit({ ...CARD, reference: 'order-2' })));
  sandbox.faults.next('commit-then-cut');
  errors.push(await errorOf(gateway.createDeposit({ ...CARD, reference: 'order-3' })));
  const { url } = sandbox.deliveries[0] ?? { url: '' };
  errors.push(await handler(post('nope', {}, url)));
  const token = new URL(url).searchParams.get('callbackToken') ?? '';
  expect(token).toHaveLength(45);
  const { rows } = await store.list({ kind: 'create', states: ['begun', 'created', 'freed'] });
  const printed = inspect([events, errors, rows, gateway, handler], { depth: 10, showHidden: true });
  expect(printed).toContain('order-1');
  expect(printed).not.toContain(token);
  expect(printed).not.toContain(token.split('.')[1]);
});
