// What an answer says of the payment, where there is only half of it, or where it is no answer.
import { GatewayClient } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { CARD, errorOf, ID, KEYS, OTHER_ID, record } from '../support/fixtures.ts';
import { hostNotFound, networkError, wire } from '../support/wire.ts';

describe('a complete answer to a create', () => {
  const RECORD = `{"id":"${ID}","paymentStatus":"FAILED"}`;
  const trace = `{"error":{"code":"iban","id":"${OTHER_ID}"},"trace":"${OTHER_ID}"}`;
  const rejected = { outcome: 'rejected', paymentId: undefined };
  const inDoubt = (paymentId?: string) => ({ outcome: 'unknown', paymentId });

  const ANSWERS: [number, string, object][] = [
    [422, trace, rejected],
    [500, trace, inDoubt()],
    [500, `{"result":{"customer":{"id":"${OTHER_ID}"}}}`, inDoubt()],
    [500, `{"description":"{\\"id\\":\\"${OTHER_ID}\\"}","id":"${ID}"}`, inDoubt(ID)],
    [500, `{"id":"${OTHER_ID}","result":{"id":"${ID}"}}`, inDoubt(ID)],
    [500, `<html><body id="${OTHER_ID}">`, inDoubt()],
    [500, '{"a":'.repeat(20_000), inDoubt()],
    [422, '', rejected],
    [422, 'Bad request', rejected],
    [422, '<html><p>busy</p>', rejected],
    [422, `<br />Notice: z\n${trace}`, rejected],
    [422, '{"error":"cut in its first', rejected],
    [422, 'null', rejected],
    [422, `[${RECORD}]`, rejected],
    [422, `{"id":"${ID}"}`, rejected],
    [422, '{"id":"order-1","paymentStatus":"FAILED"}', rejected],
    [422, RECORD, inDoubt(ID)],
    [422, `{"result":${RECORD}}`, inDoubt(ID)],
    [422, `{"result":"refused","id":"${ID}","paymentStatus":"FAILED"}`, inDoubt(ID)],
    [500, RECORD, inDoubt(ID)],
    [500, `{"result":{"id":"${ID}","pay`, inDoubt(ID)],
    [422, `${trace}${' '.repeat(1024 * 1024)}`, inDoubt()],
  ];
  const named = ANSWERS.map(([status, body, expected]) => [status, body.slice(0, 150), body, expected] as const);
  it.each(named)('with status %i and the body %j says what became of the money', async (status, _, body, expected) => {
    const { fetch, sent } = wire(() => new Response(body, { status }));
    const gateway = new GatewayClient({ ...KEYS, fetch });
    const error = await errorOf(gateway.createDeposit(CARD));
    expect(error).toMatchObject({ name: 'ApiError', status });
    expect({ outcome: undefined, paymentId: undefined, ...(error as object) }).toMatchObject(expected);
    // No lookup, whatever it names.
    expect(sent).toHaveLength(1);
  });
});

it.each([
  [hostNotFound(), '(ENOTFOUND). Nothing was sent'],
  [networkError('ECONNRESET', 'read'), '(ECONNRESET). A payment may exist'],
])('the message of a failed connection names the address, the code and the next step: %s', async (error, advice) => {
  const gateway = new GatewayClient({ ...KEYS, fetch: wire(error).fetch });
  const message = await errorOf(gateway.createDeposit(CARD));
  expect(String(message)).toContain(`No complete answer from ${KEYS.baseUrl} to the creation of`);
  expect(String(message)).toContain(advice);
});

it.each([
  ['0, as a browser tells of a redirect', 0],
  ['199', 199],
  ['300', 300],
])('a status of %s is no success, whatever comes with it', async (_, status) => {
  const text = async () => record('created card deposit');
  const answer = { status, headers: new Headers(), body: null, text } as Response;
  const { fetch } = wire(() => answer);
  const gateway = new GatewayClient({ ...KEYS, fetch });
  await expect(gateway.createDeposit(CARD)).rejects.toMatchObject({ name: 'ApiError', status, outcome: 'unknown' });
});
