// Small promises of the sandbox: words of refusals, headers, transfer instructions, and who may use its own API.
import { createHash } from 'node:crypto';
import { GatewayClient } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import type { PaymentRecord } from '../../src/sandbox/ledger/record.ts';
import { transferOf } from '../../src/sandbox/ledger/transfer.ts';
import { create, sandboxOf } from '../support/eventful.ts';
import { CARD, errorOf, ID } from '../support/fixtures.ts';

const OWN_API = 'http://sandbox.localhost/_sandbox';

it('the instructions of a transfer have the names, the account and the reference of their own payment', async () => {
  const { nextAction, payment } = await new GatewayClient(sandboxOf({ seed: 'a' }).clientOptions).createDeposit({
    ...CARD,
    paymentMethod: 'PAYID',
  });
  if (nextAction.type !== 'transfer') throw new Error(nextAction.type);
  const start = payment.id.slice(0, 8);
  const digest = createHash('sha256').update(`transfer of ${payment.id}`).digest('hex');
  expect(nextAction.transfer).toEqual({
    number: `pay-${start}@sandbox.example`,
    full_holder_name: 'Sandbox Payments Pty Ltd',
    payment_description: start.toUpperCase(),
    amount: '25.50',
    currency: 'EUR',
    uuid: expect.stringMatching(new RegExp(`^${digest.slice(0, 8)}-${digest.slice(8, 12)}-4`)),
    order_id: payment.id,
  });
});

// By PHP: number_format($amount, 2, '.', '')
it.each([
  [25.5, '25.50'],
  [7, '7.00'],
  [1.005, '1.01'],
  [2.675, '2.68'],
  [10.235, '10.24'],
  [12_345_678.9, '12345678.90'],
  [1e21, '1000000000000000000000.00'],
])('a transfer of %d is written with two decimals: %s', (amount, written) => {
  expect(transferOf({ id: ID, amount, currency: 'EUR' } as PaymentRecord)).toHaveProperty('amount', written);
});

// The document's table of methods.
it.each<[boolean, string[]]>([
  [true, ['ONRAMP', 'ONRAMP_PAYID', 'ONRAMP_ZAR', 'ONRAMP_QRTHWALLET', 'ONRAMP_CARD', 'ONRAMP_SPEI', 'USER_CHOICE']],
  [false, ['CARD', 'PAYID', 'BLIK', 'IDEAL', 'GOOGLEPAY']],
])('whether a deposit is settled in crypto, with an exchange rate: %s for %j', async (isOnramp, methods) => {
  const sandbox = sandboxOf({ terminal: 'onramp' });
  for (const paymentMethod of methods) await create(sandbox, { paymentMethod });
  expect(sandbox.payments.map(payment => 'crypto_fx' in payment)).toEqual(methods.map(() => isOnramp));
});

describe('an answer', () => {
  it.each([
    ['a lookup', 'GET', `/api/v1/payments/${ID}`],
    ['a create', 'POST', '/api/v1/payments'],
  ])('of %s is JSON, with an id of its own', async (_, method, path) => {
    const send = () => sandboxOf().fetch(`http://sandbox.localhost${path}`, { method });
    const [one, other] = [await send(), await send()];
    expect(one.headers.get('content-type')).toBe('application/json');
    expect(one.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
    expect(one.headers.get('x-request-id')).not.toBe(other.headers.get('x-request-id'));
  });

  it('that is cut off announces the length of the whole, and breaks off while it is read', async () => {
    const sandbox = sandboxOf();
    const id = await create(sandbox);
    sandbox.faults.next('commit-then-cut', { on: 'lookup' });
    const headers = { authorization: 'Bearer sandbox-api-key' };
    const answer = await sandbox.fetch(`http://sandbox.localhost/api/v1/payments/${id}`, { headers });
    const { body = '' } = sandbox.calls.at(-1)?.answer ?? {};
    expect([answer.status, Number(answer.headers.get('content-length'))]).toEqual([200, Buffer.byteLength(body)]);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(await errorOf(answer.text())).toMatchObject({
      message: 'fetch failed',
      cause: { message: 'other side closed', code: 'UND_ERR_SOCKET' },
    });
  });
});

describe("the sandbox's own API", () => {
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await sandboxOf().fetch(OWN_API + path, init);
    return { status: answer.status, json: JSON.parse((await answer.text()) || 'null') };
  };
  const post = (path: string, body: unknown) =>
    ask(path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });

  it('says of each field what is wrong with it', async () => {
    const { status, json } = await post('/faults', { fault: 'drop', count: 0, on: 'refund' });
    expect([status, json]).toEqual([
      422,
      { code: 'invalid', message: "on must be 'create' or 'lookup'; count must be 1 or more." },
    ]);
    expect((await post('/scenarios', { scenario: 5 })).json.message).toMatch(/^scenario \S/);
    expect((await post('/scenarios', [])).json.message).toMatch(/^\S/);
  });

  it("lists a payment's own deliveries, calls, and as many payments as asked for", async () => {
    const sandbox = sandboxOf();
    const ids = [await create(sandbox), await create(sandbox), await create(sandbox)];
    for (const id of ids) await sandbox.complete(id);
    await sandbox.idle();
    const list = async (path: string) => JSON.parse(await (await sandbox.fetch(OWN_API + path)).text());
    const { deliveries } = await list(`/deliveries?paymentId=${ids[1]?.toUpperCase()}`);
    expect(deliveries.map(({ paymentId }: { paymentId: string }) => paymentId)).toEqual([ids[1]]);
    const { calls } = await list(`/calls?paymentId=${ids[1]}`);
    expect(calls.map(({ paymentId }: { paymentId: string }) => paymentId)).toEqual([ids[1]]);
    expect((await list('/deliveries?limit=2')).deliveries).toHaveLength(2);
    expect((await list('/calls?limit=1&offset=1')).calls).toHaveLength(1);
    expect((await list('/payments?limit=2')).payments).toHaveLength(2);
  });
});

it('a call that was aborted before it is rejected with its reason, and not logged', async () => {
  const sandbox = sandboxOf();
  const reason = new Error('gone');
  const headers = { authorization: 'Bearer sandbox-api-key' };
  const init = { headers, signal: AbortSignal.abort(reason) };
  expect(await errorOf(sandbox.fetch(`http://sandbox.localhost/api/v1/payments/${ID}`, init))).toBe(reason);
  expect(sandbox.calls).toEqual([]);
});
