// The guide to checkouts and the admin route, played: declined cards, two tabs, two paid attempts, doubts.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import {
  createWebhookHandler,
  type Fetch,
  GatewayClient,
  memoryJournal,
  type Payment,
  toNodeHandler,
} from 'payment-gateway-sdk';
import { postgresJournal } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openAdminRoute } from '../../examples/admin-route.ts';
import { openCheckout } from '../../examples/checkout.ts';
import { expectDocumented } from '../support/documents.ts';
import { errorOf } from '../support/fixtures.ts';
import { openPaymentsApp, type PaymentsApp } from '../support/payments-app.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres } from '../support/stores.ts';

it('docs/checkout.md shows the example as it is', () => {
  const code = readFileSync(new URL('../../examples/checkout.ts', import.meta.url), 'utf8').trim();
  // Not as `ts`: test/docs/examples.test.ts runs those.
  expectDocumented('checkout.md', 'checkout', `\`\`\`typescript\n${code}\n\`\`\``);
});

describe.skipIf(lacks(hasPostgres, 'the example of a checkout: no PostgreSQL at 127.0.0.1:5432'))('a checkout', () => {
  let shop: PaymentsApp;
  let app: PaymentsApp['app'];
  let sandbox: PaymentsApp['sandbox'];
  beforeAll(async () => {
    shop = await openPaymentsApp();
    ({ app, sandbox } = shop);
  });
  afterAll(() => shop.close());
  beforeEach(async () => {
    await shop.empty();
    await app.place('order-1042', '25.50', 'EUR');
    vi.spyOn(console, 'error').mockImplementation(() => {});
  });
  afterEach(() => vi.restoreAllMocks());

  const order = async () => (await shop.rowsOf('orders', 'attempt, paid_by'))[0];
  const toCheck = () => shop.rowsOf('to_check', 'payment_id, status');
  const references = () => sandbox.payments.map(({ reference }) => reference);
  const idOf = (index: number) => sandbox.payments[index]?.id ?? '';
  const pay = () => app.pay('order-1042');
  const state = async () => (await app.stateOf('order-1042')).type;
  const complete = async (index: number, options?: { force: true }) => {
    await sandbox.complete(idOf(index), options);
    await sandbox.idle();
  };
  const fail = async (index: number, options?: { force: true }) => {
    await sandbox.fail(idOf(index), { reason: 'declined', ...options });
    await sandbox.idle();
  };

  it('sends a customer who comes back to the same payment, from many tabs at once too', async () => {
    expect(await state()).toBe('open');
    const first = await pay();
    expect(first.type).toBe('redirect');
    expect(await Promise.all([1, 2, 3].map(pay))).toEqual([first, first, first]);
    expect(await app.stateOf('order-1042')).toEqual(first);
    expect(references()).toEqual(['order-1042.1']);
  });

  it('gives a second click that another replica got the same payment, once the first has its answer', async () => {
    const replica = await shop.openReplica();
    sandbox.faults.next('slow', { ms: 600 });
    const first = pay();
    await expect.poll(references).toEqual(['order-1042.1']);
    expect(await state()).toBe('checking');
    expect(await replica.pay('order-1042')).toEqual(await first);
    expect(references()).toEqual(['order-1042.1']);
    await replica.close();
  });

  it('makes a new payment after a decline, and not before', async () => {
    await pay();
    await fail(0);
    expect(await state()).toBe('declined');
    const tabs = await Promise.all([1, 2, 3].map(pay));
    expect(tabs.map(({ type }) => type)).toEqual(['redirect', 'redirect', 'redirect']);
    expect(references()).toEqual(['order-1042.1', 'order-1042.2']);
  });

  it('makes one payment for each click, also a double one, where every one is declined at once', async () => {
    const declining: Fetch = async (url, init) => {
      const response = await sandbox.fetch(url, init);
      return new Response((await response.text()).replace('"PENDING"', '"FAILED"'), response);
    };
    const journal = postgresJournal(shop.observer, { scope: 'eu-terminal' });
    const gateway = new GatewayClient({ ...sandbox.clientOptions, fetch: declining, journal });
    const { pay } = openCheckout(shop.observer, gateway, 'https://shop.example');
    const replica = openCheckout(
      shop.observer,
      new GatewayClient({
        ...sandbox.clientOptions,
        fetch: declining,
        journal: postgresJournal(shop.observer, { scope: 'eu-terminal' }),
      }),
      'https://shop.example',
    );
    sandbox.faults.next('slow', { ms: 600 });
    const first = pay('order-1042');
    await expect.poll(references).toEqual(['order-1042.1']);
    const clicks = [first, pay('order-1042'), replica.pay('order-1042')];
    expect(await Promise.all(clicks)).toEqual(Array(3).fill({ type: 'declined' }));
    expect(references()).toEqual(['order-1042.1']);
    for (const attempts of [2, 3]) {
      expect([await pay('order-1042'), references().length]).toEqual([{ type: 'declined' }, attempts]);
    }
  });

  it('is over once it is paid, also before the callback', async () => {
    await pay();
    shop.reach(false);
    await complete(0);
    expect([await pay(), await state()]).toEqual([{ type: 'checking' }, 'checking']);
    expect(await order()).toEqual({ attempt: 1, paid_by: null });
    await app.handler.process(idOf(0));
    expect(await order()).toEqual({ attempt: 1, paid_by: idOf(0) });
    expect([await pay(), await state()]).toEqual([{ type: 'paid' }, 'paid']);
    expect(references()).toEqual(['order-1042.1']);
  });

  it('pays the order once when two attempts are paid, and lists the second to be checked', async () => {
    await pay();
    await fail(0);
    await pay();
    await complete(1);
    await complete(0, { force: true });
    expect(await order()).toEqual({ attempt: 2, paid_by: idOf(1) });
    expect(await toCheck()).toEqual([{ payment_id: idOf(0), status: 'COMPLETED' }]);
  });

  it('lists a payment to be checked that paid the order, and failed after that', async () => {
    await pay();
    await complete(0);
    await fail(0, { force: true });
    expect(await order()).toEqual({ attempt: 1, paid_by: idOf(0) });
    expect(await toCheck()).toEqual([{ payment_id: idOf(0), status: 'FAILED' }]);
  });

  it('lists both, if the payment that failed had paid no order', async () => {
    await app.cancel('order-1042');
    const beside = new GatewayClient(sandbox.clientOptions);
    const request = { paymentMethod: 'CARD', amount: '25.50', currency: 'EUR', reference: 'order-1042.1' } as const;
    await beside.createDeposit({ ...request, webhookUrl: 'https://shop.example/callbacks' });
    await complete(0);
    await fail(0, { force: true });
    expect(await toCheck()).toEqual(['COMPLETED', 'FAILED'].map(status => ({ payment_id: idOf(0), status })));
  });

  it('never says paid of a payment that does not fit the order, and lists it', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    sandbox.faults.next('amount-round');
    await pay();
    await complete(0);
    expect([await pay(), await state()]).toEqual([{ type: 'checking' }, 'checking']);
    expect(await toCheck()).toEqual([{ payment_id: idOf(0), status: 'COMPLETED' }]);
    expect(console.warn).toHaveBeenCalledWith(expect.stringMatching(/^create_mismatch: /));
  });

  it('lists a payment with a status that the document does not have, and asks the customer for nothing', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    await pay();
    sandbox.faults.next('unknown-status', { on: 'lookup' });
    await app.handler.process(idOf(0));
    expect(await toCheck()).toEqual([{ payment_id: idOf(0), status: 'IN_REVIEW' }]);
    expect(console.warn).toHaveBeenCalledWith(expect.stringMatching(/^unknown_status: .*IN_REVIEW/));
    expect(await state()).toBe('checking');
    sandbox.faults.next('unknown-status', { on: 'lookup' });
    expect(await pay()).toEqual({ type: 'checking' });
    expect(references()).toEqual(['order-1042.1']);
  });

  it.each(['0', '-5', 'nine'])('takes no order of %s', async amount => {
    expect(await errorOf(app.place('order-1043', amount, 'EUR'))).toBeInstanceOf(Error);
  });

  it('lists no payment that was declined, as cards are', async () => {
    await pay();
    await fail(0);
    expect(await toCheck()).toEqual([]);
  });

  it.each([
    ['of another amount', { amount: '1.00' }],
    ['of another currency', { currency: 'USD' }],
    ['of no order', { reference: 'gift-card' }],
    ['without a reference', { reference: null }],
  ])('is not paid by a payment %s, which is listed', async (_, changes) => {
    const beside = new GatewayClient(sandbox.clientOptions);
    const request = { paymentMethod: 'CARD', amount: '25.50', currency: 'EUR', reference: 'order-1042.1' } as const;
    await beside.createDeposit({ ...request, webhookUrl: 'https://shop.example/callbacks', ...changes });
    await complete(0);
    expect(await order()).toEqual({ attempt: 1, paid_by: null });
    expect(await toCheck()).toEqual([{ payment_id: idOf(0), status: 'COMPLETED' }]);
  });

  it('asks nobody to pay an order that was cancelled, and lists a payment of it that comes late', async () => {
    await pay();
    expect(await app.cancel('order-1042')).toBe(true);
    expect([await pay(), await state()]).toEqual([{ type: 'cancelled' }, 'cancelled']);
    await complete(0);
    expect(await order()).toEqual({ attempt: 1, paid_by: null });
    expect(await toCheck()).toEqual([{ payment_id: idOf(0), status: 'COMPLETED' }]);
  });

  it('does not cancel an order that is paid', async () => {
    await pay();
    await complete(0);
    expect(await app.cancel('order-1042')).toBe(false);
    expect(await state()).toBe('paid');
  });

  it('says which order there is not', async () => {
    await expect(app.pay('order-9')).rejects.toThrow('There is no order order-9.');
  });

  it('says that the link to pay is lost with the answer of the create, and goes on once support has cancelled', async () => {
    sandbox.faults.next('commit-then-cut');
    expect(await pay()).toEqual({ type: 'checking' });
    expect([await pay(), await state()]).toEqual([{ type: 'link_lost' }, 'link_lost']);
    await sandbox.cancel(idOf(0));
    expect(await pay()).toMatchObject({ type: 'redirect' });
    expect(references()).toEqual(['order-1042.1', 'order-1042.2']);
  });

  it('makes no new attempt while one is in doubt', async () => {
    sandbox.faults.next('commit-then-drop');
    expect([await pay(), await pay(), await state()]).toEqual([{ type: 'checking' }, { type: 'checking' }, 'checking']);
    expect(references()).toEqual(['order-1042.1']);
    await complete(0);
    expect(await pay()).toEqual({ type: 'paid' });
    expect(await order()).toEqual({ attempt: 1, paid_by: idOf(0) });
  });

  it('throws what no payment can come of', async () => {
    sandbox.faults.next('reject-422');
    expect(await errorOf(pay())).toHaveProperty('outcome', 'rejected');
    expect(await state()).toBe('open');
  });
});

describe('the admin route', () => {
  async function open({ fails = false } = {}) {
    const sandbox = new Sandbox({ fetch: async () => new Response() });
    const gateway = new GatewayClient({ ...sandbox.clientOptions, journal: memoryJournal() });
    sandbox.faults.next('commit-then-drop');
    await errorOf(
      gateway.createWithdrawal({
        ...{ paymentMethod: 'SEPA', amount: '120.00', currency: 'EUR', reference: 'payout-77' },
        webhookUrl: 'https://shop.example/callbacks',
      } as const),
    );
    const effects: unknown[] = [];
    const onPayment = ({ reference }: Payment) => {
      effects.push(reference);
      if (fails) throw new Error('shop');
    };
    const handler = createWebhookHandler({ gateway, onPayment });
    const route = openAdminRoute(gateway, request => request.headers.get('x-operator') ?? undefined, handler);
    const call = async (body?: unknown, headers: Record<string, string> = { 'x-operator': 'zoe' }, method = 'POST') => {
      const init = body === undefined ? { headers } : { method, body: JSON.stringify(body), headers };
      const response = await route(new Request('https://shop.example/doubts', init));
      return [response.status, await response.json()];
    };
    return { sandbox, route, effects, call };
  }

  it('is closed to others', async () => {
    const { call } = await open();
    expect(await call(undefined, {})).toEqual([401, { error: 'Sign in.' }]);
    expect(await call({ reference: 'payout-77', paymentId: 'not_created' }, {})).toEqual([401, { error: 'Sign in.' }]);
  });

  it.each([
    ['another method', { reference: 'payout-77', paymentId: 'not_created' }, 'PUT', 405],
    ['what is no settlement', {}, 'POST', 400],
    ['null', null, 'POST', 400],
    ['a mistyped difference', { reference: 'payout-77', paymentId: 'not_created', despite: ['amuont'] }, 'POST', 409],
  ])('refuses %s', async (_, body, method, status) => {
    const { call } = await open();
    expect(await call(body, undefined, method)).toMatchObject([status, { error: expect.any(String) }]);
    expect(await call()).toMatchObject([200, [{ reference: 'payout-77' }]]);
  });

  it('lists what is in doubt, says why not, and settles it', async () => {
    const { sandbox, call } = await open();
    expect(await call()).toMatchObject([200, [{ reference: 'payout-77', amount: '120', currency: 'EUR' }]]);
    const early = await call({ reference: 'payout-77', paymentId: 'not_created' });
    expect(early).toMatchObject([409, { code: 'payment_in_doubt', error: expect.stringContaining('refused until') }]);
    const [{ id = '' } = {}] = sandbox.payments;
    const settled = await call({ reference: 'payout-77', paymentId: id });
    expect(settled).toMatchObject([200, { state: 'created', paymentId: id }]);
    expect(await call()).toEqual([200, []]);
  });

  it('lets the payment of a settled doubt take effect at once, and says who has settled it', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    const { sandbox, effects, call } = await open();
    const [{ id = '' } = {}] = sandbox.payments;
    await sandbox.complete(id);
    expect(await call({ reference: 'payout-77', paymentId: id })).toMatchObject([200, { state: 'created' }]);
    expect(effects).toEqual(['payout-77']);
    expect(log).toHaveBeenCalledWith('A doubt was settled.', expect.objectContaining({ operator: 'zoe' }));
    log.mockRestore();
  });

  it('answers that a doubt is settled also if its effect fails: a sweep repeats it', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { sandbox, call } = await open({ fails: true });
    const [{ id = '' } = {}] = sandbox.payments;
    await sandbox.complete(id);
    expect(await call({ reference: 'payout-77', paymentId: id })).toMatchObject([200, { state: 'created' }]);
    expect(error).toHaveBeenCalledWith(expect.objectContaining({ message: 'shop' }));
    error.mockRestore();
  });

  it.each([
    ['before express.json() settles', 'before', 200, 'created'],
    ['after it says what is wrong', 'after', 400, 'put the route before express.json()'],
  ])('%s', async (_, place, status, text) => {
    const { sandbox, route } = await open();
    const app = express();
    if (place === 'after') app.use(express.json());
    app.use('/doubts', toNodeHandler(route));
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/doubts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-operator': 'zoe' },
      body: JSON.stringify({ reference: 'payout-77', paymentId: sandbox.payments[0]?.id }),
    });
    expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(text)]);
    server.close();
  });
});
