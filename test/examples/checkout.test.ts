// The guide to checkouts and the admin route, played: declined cards, two tabs, two paid attempts, doubts.
import { readFileSync } from 'node:fs';
import { GatewayClient, memoryJournal } from 'payment-gateway-sdk';
import { postgresInbox, postgresJournal } from 'payment-gateway-sdk/postgres';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openAdminRoute } from '../../examples/admin-route.ts';
import { openCheckout, SCHEMA } from '../../examples/checkout.ts';
import { expectDocumented } from '../support/documents.ts';
import { errorOf } from '../support/fixtures.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';

it('docs/checkout.md shows the example as it is', () => {
  const code = readFileSync(new URL('../../examples/checkout.ts', import.meta.url), 'utf8').trim();
  // Not as `ts`: test/docs/examples.test.ts runs those.
  expectDocumented('checkout.md', 'checkout', `\`\`\`typescript\n${code}\n\`\`\``);
});

describe.skipIf(lacks(hasPostgres, 'the example of a checkout: no PostgreSQL at 127.0.0.1:5432'))('a checkout', () => {
  const schema = uniqueName('checkout');
  let pool: pg.Pool;
  let sandbox: Sandbox;
  let checkout: ReturnType<typeof openCheckout>;

  beforeAll(async () => {
    pool = postgresPool({ options: `-c search_path=${schema}` });
    await pool.query(`create schema ${schema}`);
    await postgresJournal(pool).migrate();
    await postgresInbox(pool).migrate();
    await pool.query(SCHEMA);
  });
  afterAll(async () => {
    await pool.query(`drop schema ${schema} cascade`);
    await pool.end();
  });
  beforeEach(async () => {
    sandbox = new Sandbox({
      fetch: (_url, init) => checkout.callbacks(new Request('https://shop.example/callbacks', init as RequestInit)),
    });
    const journal = postgresJournal(pool, { scope: uniqueName('shop') });
    const gateway = new GatewayClient({ ...sandbox.clientOptions, journal });
    checkout = openCheckout(pool, gateway, 'https://shop.example');
    await pool.query(`truncate orders, to_check`);
    await pool.query(`insert into orders (id, amount, currency) values ('order-1042', 25.50, 'EUR')`);
  });

  const order = async () => (await pool.query('select attempt, paid_by from orders')).rows[0];
  const references = () => sandbox.payments.map(({ reference }) => reference);
  const idOf = (index: number) => sandbox.payments[index]?.id ?? '';
  const complete = async (index: number, options?: { force: true }) => {
    await sandbox.complete(idOf(index), options);
    await sandbox.idle();
  };

  it('sends a customer who comes back to the same payment, from many tabs at once too', async () => {
    const first = await checkout.pay('order-1042');
    expect(first?.type).toBe('redirect');
    const tabs = await Promise.all([1, 2, 3].map(() => checkout.pay('order-1042')));
    expect(tabs).toEqual([first, first, first]);
    expect(references()).toEqual(['order-1042.1']);
  });

  it('makes a new payment after a decline, and not before', async () => {
    await checkout.pay('order-1042');
    await sandbox.fail(idOf(0), { reason: 'declined' });
    const tabs = await Promise.all([1, 2, 3].map(() => checkout.pay('order-1042')));
    expect(tabs.map(action => action?.type)).toEqual(['redirect', 'redirect', 'redirect']);
    expect(references()).toEqual(['order-1042.1', 'order-1042.2']);
  });

  it('is over once it is paid, also before the callback', async () => {
    await checkout.pay('order-1042');
    await complete(0);
    expect(await order()).toEqual({ attempt: 1, paid_by: idOf(0) });
    expect(await checkout.pay('order-1042')).toBeUndefined();
    await pool.query('update orders set paid_by = null');
    expect(await checkout.pay('order-1042')).toBeUndefined();
    expect(references()).toEqual(['order-1042.1']);
  });

  it('pays the order once when two attempts are paid, and lists the second to be checked', async () => {
    await checkout.pay('order-1042');
    await sandbox.fail(idOf(0), { reason: 'declined' });
    await sandbox.idle();
    await checkout.pay('order-1042');
    await complete(1);
    await complete(0, { force: true });
    expect(await order()).toEqual({ attempt: 2, paid_by: idOf(1) });
    expect((await pool.query('select * from to_check')).rows).toEqual([
      { payment_id: idOf(0), reference: 'order-1042.1' },
    ]);
  });

  it.each([
    ['of another amount', { amount: '1.00' }],
    ['of another currency', { currency: 'JPY' }],
    ['of no order', { reference: 'gift-card' }],
    ['without a reference', { reference: null }],
  ])('is not paid by a payment %s, which is listed', async (_, changes) => {
    const beside = new GatewayClient(sandbox.clientOptions);
    const request = { paymentMethod: 'CARD', amount: '25.50', currency: 'EUR', reference: 'order-1042.1' } as const;
    await beside.createDeposit({ ...request, webhookUrl: 'https://shop.example/callbacks', ...changes });
    await complete(0);
    expect(await order()).toEqual({ attempt: 1, paid_by: null });
    expect((await pool.query('select payment_id from to_check')).rows).toEqual([{ payment_id: idOf(0) }]);
  });

  it('says which order there is not', async () => {
    await expect(checkout.pay('order-9')).rejects.toThrow('There is no order order-9.');
  });

  it('has no link to pay any more if the answer of the create was lost', async () => {
    sandbox.faults.next('commit-then-cut');
    expect(await errorOf(checkout.pay('order-1042'))).toHaveProperty('outcome', 'unknown');
    expect(await checkout.pay('order-1042')).toEqual({ type: 'wait' });
    await sandbox.cancel(idOf(0));
    expect(await checkout.pay('order-1042')).toMatchObject({ type: 'redirect' });
    expect(references()).toEqual(['order-1042.1', 'order-1042.2']);
  });

  it('makes no new attempt while one is in doubt', async () => {
    sandbox.faults.next('commit-then-drop');
    for (let tries = 0; tries < 2; tries++) {
      expect(await errorOf(checkout.pay('order-1042'))).toHaveProperty('outcome', 'unknown');
    }
    expect(references()).toEqual(['order-1042.1']);
    await complete(0);
    expect(await checkout.pay('order-1042')).toBeUndefined();
    expect(await order()).toEqual({ attempt: 1, paid_by: idOf(0) });
  });
});

describe('the admin route', () => {
  async function open() {
    const sandbox = new Sandbox({ fetch: async () => new Response() });
    const gateway = new GatewayClient({ ...sandbox.clientOptions, journal: memoryJournal() });
    sandbox.faults.next('commit-then-drop');
    await errorOf(
      gateway.createWithdrawal({
        ...{ paymentMethod: 'SEPA', amount: '120.00', currency: 'EUR', reference: 'payout-77' },
        webhookUrl: 'https://shop.example/callbacks',
      } as const),
    );
    const route = openAdminRoute(gateway, request => request.headers.get('x-operator') === 'zoe');
    const call = async (body?: unknown, headers: Record<string, string> = { 'x-operator': 'zoe' }, method = 'POST') => {
      const init = body === undefined ? { headers } : { method, body: JSON.stringify(body), headers };
      const response = await route(new Request('https://shop.example/doubts', init));
      return [response.status, await response.json()];
    };
    return { sandbox, call };
  }

  it('is closed to others', async () => {
    const { call } = await open();
    expect(await call(undefined, {})).toMatchObject([401, {}]);
    expect(await call({ reference: 'payout-77', paymentId: 'not_created' }, {})).toMatchObject([401, {}]);
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
});
