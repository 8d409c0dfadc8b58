// What the sandbox answers to calls, word for word, and what its log keeps of them.
import { createHmac } from 'node:crypto';
import type { Sandbox } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it } from 'vitest';
import { sandboxOf } from '../support/eventful.ts';
import { CARD, errorOf, OTHER_ID } from '../support/fixtures.ts';

const API = 'http://sandbox.localhost/api/v1/payments';
const deposit = { ...CARD, paymentType: 'DEPOSIT', amount: 25.5, reference: 'order-1' };
const authorization = 'Bearer sandbox-api-key';

async function send(
  sandbox: Sandbox,
  body: string | Uint8Array<ArrayBuffer>,
  key = 'sandbox-sign-key',
  init: RequestInit = {},
) {
  const signature = createHmac('sha256', key).update(body).digest('hex');
  const answer = await sandbox.fetch(API, { method: 'POST', headers: { authorization, signature }, body, ...init });
  return { status: answer.status, json: JSON.parse(await answer.text()) };
}

const lookUp = async (sandbox: Sandbox, id: string, init: RequestInit = {}) => {
  const answer = await sandbox.fetch(`${API}/${id}`, { headers: { authorization }, ...init });
  return { status: answer.status, json: JSON.parse(await answer.text()) };
};

const bytes = (...parts: (string | number)[]) =>
  Uint8Array.from(parts.flatMap(part => (typeof part === 'number' ? part : [...new TextEncoder().encode(part)])));

describe('a create that is refused says what is wrong with it, and the log says it in one line', () => {
  const INVALID = 'The given data was invalid.';
  const json = JSON.stringify(deposit);
  const wrongPart = '{"billingAddress":{"countryCode":7},';

  it.each<[string, string | Uint8Array<ArrayBuffer>, Record<string, RegExp>]>([
    ['no JSON', 'nope', { body: /^The body is not JSON\.$/ }],
    ['no UTF-8', bytes('{"description":"', 0xff, `",${json.slice(1)}`), { body: /^The body is not JSON\.$/ }],
    ['an amount as a text', json.replace('25.5', '"25.5"'), { amount: /^The amount must be a number\.$/ }],
    ['an amount beyond all numbers', json.replace('25.5', '1e999'), { amount: /\S/ }],
    [
      'two mistakes, one of them in a part',
      json.replace('{', wrongPart).replace('"EUR"', '7'),
      { currency: /^[^;]+$/, 'billingAddress.countryCode': /^[^;]+$/ },
    ],
    ['nowhere to call back', json.replace('webhookUrl', 'webhook'), { webhookUrl: /\S/ }],
  ])('%s', async (_, body, wanted) => {
    const sandbox = sandboxOf();
    const { status, json } = await send(sandbox, body);
    const errors = Object.fromEntries(
      Object.entries(wanted).map(([field, text]) => [field, [expect.stringMatching(text)]]),
    );
    expect([status, json]).toEqual([422, { message: INVALID, errors }]);
    const line = Object.keys(wanted).map(field => `${field}: ${json.errors[field]}`);
    expect(sandbox.calls[0]?.message).toBe(`${INVALID} ${line.join('; ')}`);
  });
});

describe('a payment', () => {
  it('is wrapped, in creates and lookups', async () => {
    const sandbox = sandboxOf();
    const { json } = await send(sandbox, JSON.stringify(deposit));
    const { redirectUrl, ...record } = json.result;
    expect(redirectUrl).toBe(`http://sandbox.localhost/pay/${record.id}`);
    expect(await lookUp(sandbox, record.id)).toEqual({ status: 200, json: { result: record } });
  });

  it('is bare, in creates and lookups of a gateway of the earlier description', async () => {
    const sandbox = sandboxOf({ shape: 'unwrapped' });
    const { json: record } = await send(sandbox, JSON.stringify(deposit));
    expect(record).toMatchObject({ paymentStatus: 'PENDING', reference: 'order-1' });
    expect(record).not.toHaveProperty('redirectUrl');
    expect(await lookUp(sandbox, record.id)).toEqual({ status: 200, json: record });
  });

  it.each([
    ['GET', '', 'POST'],
    ['DELETE', `/${OTHER_ID}`, 'GET, HEAD'],
  ])('asked for by %s at %j is 405, with the methods that are allowed', async (method, path, allow) => {
    const answer = await sandboxOf().fetch(API + path, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
    expect(await answer.json()).toEqual({ message: 'Method not allowed.' });
  });

  it.each([
    [{ currency: 'EURO' }, ['currency: EURO is not a code of ISO 4217.']],
    [{ paymentMethod: 'BLIK' }, ['currency: BLIK is usually paid in PLN.']],
    [{ currency: 'JPY', amount: 12.34 }, ['amount: JPY has 0 decimals.']],
    [{ currency: 'KWD', amount: 12.345 }, undefined],
    [
      { referance: 'order-1', note: 'x' },
      ['unknown field "referance" (did you mean "reference"?), "note": ignored by the gateway.'],
    ],
  ])('with %j is accepted, with a warning on its call', async (fields, warnings) => {
    const sandbox = sandboxOf();
    expect((await send(sandbox, JSON.stringify({ ...deposit, ...fields }))).status).toBe(201);
    expect(sandbox.calls[0]?.warnings).toEqual(warnings);
  });

  it('that there is not, and an address that there is not, are 404', async () => {
    const sandbox = sandboxOf();
    expect(await lookUp(sandbox, OTHER_ID)).toEqual({ status: 404, json: { message: 'Payment not found.' } });
    const answer = await sandbox.fetch(`${API}/${OTHER_ID}/refunds`, { method: 'POST' });
    expect([answer.status, await answer.json()]).toEqual([404, { message: 'Not found.' }]);
    expect(sandbox.calls.map(({ message }) => message)).toEqual([
      'Payment not found.',
      'There is no such address. The gateway has POST /api/v1/payments and GET /api/v1/payments/{id}, and nothing else.',
    ]);
  });
});

describe('the log of calls', () => {
  it.each([
    ['drop', undefined],
    ['reject-401', 401],
    ['commit-then-drop', undefined],
    ['commit-then-502', 502],
  ] as const)('says which payment a lookup was about that got %s', async (fault, status) => {
    const sandbox = sandboxOf();
    const { json } = await send(sandbox, JSON.stringify(deposit));
    const paymentId = json.result.id;
    sandbox.faults.next(fault, { on: 'lookup' });
    await sandbox.fetch(`${API}/${paymentId}`, { headers: { authorization } }).catch(() => {});
    const { fault: injected, paymentId: about, answer } = sandbox.calls.at(-1) ?? {};
    expect({ injected, about, status: answer?.status }).toEqual({ injected: fault, about: paymentId, status });
  });

  it.each([
    ['no payment', 'drop', false],
    ['a payment', 'commit-then-drop', true],
  ] as const)('says that %s was made by a create that got %s', async (_, fault, isMade) => {
    const sandbox = sandboxOf();
    sandbox.faults.next(fault);
    await errorOf(send(sandbox, JSON.stringify(deposit)));
    expect(sandbox.calls[0]).toMatchObject({ fault, paymentId: isMade ? sandbox.payments[0]?.id : undefined });
    expect(sandbox.payments).toHaveLength(isMade ? 1 : 0);
  });
});
