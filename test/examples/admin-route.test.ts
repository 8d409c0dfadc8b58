// examples/admin-route.ts: an operator lists and settles doubts, and closes reviews.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createWebhookHandler, GatewayClient, memoryStore, type Review, toNodeHandler } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it, vi } from 'vitest';
import { openAdminRoute } from '../../examples/admin-route.ts';
import { errorOf } from '../support/fixtures.ts';

describe('the admin route', () => {
  async function open() {
    const sandbox = new Sandbox({ fetch: async (url, init): Promise<Response> => handler(new Request(url, init)) });
    const webhookUrl = 'https://shop.example/callbacks';
    const gateway = new GatewayClient({ ...sandbox.clientOptions, store: memoryStore(), webhookUrl });
    const handler = createWebhookHandler({ gateway, onPaid: () => {} });
    sandbox.faults.next('commit-then-drop');
    const payout = { paymentMethod: 'SEPA', amount: '120.00', currency: 'EUR', reference: 'payout-77' } as const;
    await errorOf(gateway.createWithdrawal(payout));
    const route = openAdminRoute(gateway, request => request.headers.get('x-operator') ?? undefined);
    const call = async (body?: unknown, headers: Record<string, string> = { 'x-operator': 'zoe' }, method = 'POST') => {
      const init = body === undefined ? { headers } : { method, body: JSON.stringify(body), headers };
      const response = await route(new Request('https://shop.example/payments', init));
      return [response.status, await response.json()];
    };
    return { sandbox, gateway, handler, route, call, id: sandbox.payments[0]?.id ?? '' };
  }

  it('is closed to others', async () => {
    const { call } = await open();
    expect(await call(undefined, {})).toEqual([401, { error: 'Sign in.' }]);
    expect(await call({ reference: 'payout-77', paymentId: 'not_created' }, {})).toEqual([401, { error: 'Sign in.' }]);
  });

  it.each([
    ['another method', { reference: 'payout-77', paymentId: 'not_created' }, 'PUT', 405],
    ['an empty decision', {}, 'POST', 400],
    ['null', null, 'POST', 400],
    ['a mistyped difference', { reference: 'payout-77', paymentId: 'not_created', despite: ['amuont'] }, 'POST', 409],
    ['an unknown review', { review: '7b1f3c52-9a1e-4a7b-8d43-2f6f0d1c9e10', status: 'COMPLETED' }, 'POST', 409],
  ])('refuses %s', async (_, body, method, status) => {
    const { call } = await open();
    expect(await call(body, undefined, method)).toMatchObject([status, { error: expect.any(String) }]);
    expect(await call()).toMatchObject([200, { doubts: [{ reference: 'payout-77' }], reviews: [] }]);
  });

  it('lists a doubt, refuses an early decision, and logs the operator who settles it', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    const { gateway, call, id } = await open();
    expect(await call()).toMatchObject([200, { doubts: [{ reference: 'payout-77', amount: '120', currency: 'EUR' }] }]);
    const early = await call({ reference: 'payout-77', paymentId: 'not_created' });
    expect(early).toMatchObject([409, { code: 'payment_in_doubt', error: expect.any(String) }]);
    expect(await call({ reference: 'payout-77', paymentId: id })).toEqual([200, { doubts: [], reviews: [] }]);
    expect(await gateway.find('payout-77')).toMatchObject({ state: 'created', paymentId: id });
    expect(log).toHaveBeenCalledWith('An operator has decided.', expect.objectContaining({ operator: 'zoe' }));
    log.mockRestore();
  });

  it('lists a review, and closes it', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    const { sandbox, gateway, handler, call, id } = await open();
    await call({ reference: 'payout-77', paymentId: id });
    await sandbox.fail(id);
    await sandbox.idle();
    await gateway.upkeep({ handler, once: true, olderThan: 0 });
    const [, listed] = (await call()) as [number, { reviews: Review[] }];
    expect(listed).toMatchObject({ reviews: [{ id, reference: 'payout-77', reason: 'payout_failed' }] });
    expect(await call({ review: id, status: listed.reviews[0]?.status })).toEqual([200, { doubts: [], reviews: [] }]);
    log.mockRestore();
  });

  it.each([
    ['before express.json() settles', 'before', 200, '"doubts":[]'],
    ['after it says the fix', 'after', 400, 'put the route before express.json()'],
  ])('%s', async (_, place, status, text) => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    const { route, id } = await open();
    const app = express();
    if (place === 'after') app.use(express.json());
    app.use('/payments', toNodeHandler(route));
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/payments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-operator': 'zoe' },
      body: JSON.stringify({ reference: 'payout-77', paymentId: id }),
    });
    expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(text)]);
    server.close();
    log.mockRestore();
  });
});
