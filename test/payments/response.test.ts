// What an answer says of the payment, where there is only half of it, or where it is no answer.
import { GatewayClient } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { readCreated } from '../../src/payments/response.ts';
import { Call } from '../../src/telemetry/call.ts';
import { CARD, errorOf, ID, KEYS, OTHER_ID, record } from '../support/fixtures.ts';
import { wire } from '../support/wire.ts';

it('the id of a create whose answer was cut off is found in the part that arrived', async () => {
  const call = new Call('create', KEYS);
  const received = `{"result":{"id":"${ID}","paymentSta`;
  const reading = async () =>
    readCreated({ code: 'ECONNRESET', mayHaveLeft: true, received }, call, { ...CARD, paymentType: 'DEPOSIT' });
  expect(await errorOf(reading())).toMatchObject({ name: 'ConnectionError', outcome: 'unknown', paymentId: ID });
});

describe('a complete answer to a create', () => {
  const RECORD = `{"id":"${ID}","paymentStatus":"FAILED"}`;
  const trace = `{"error":{"code":"iban","id":"${OTHER_ID}"},"trace":"${OTHER_ID}"}`;
  const rejected = { outcome: 'rejected', paymentId: undefined };
  const inDoubt = (paymentId?: string) => ({ outcome: 'unknown', paymentId });

  it.each<[number, string, object]>([
    [422, trace, rejected],
    [500, trace, inDoubt()],
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
  ])('with status %i and the body %j says what became of the money', async (status, body, expected) => {
    const { fetch, sent } = wire(() => new Response(body, { status }));
    const gateway = new GatewayClient({ ...KEYS, fetch });
    const error = await errorOf(gateway.createDeposit(CARD));
    expect(error).toMatchObject({ name: 'ApiError', status });
    expect({ outcome: undefined, paymentId: undefined, ...(error as object) }).toMatchObject(expected);
    // No lookup, whatever it names.
    expect(sent).toHaveLength(1);
  });
});

it.each(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'])('%s names the address that may be wrong', async code => {
  const call = new Call('create', KEYS);
  const reading = async (code: string) =>
    readCreated({ code, mayHaveLeft: false, received: '' }, call, { ...CARD, paymentType: 'DEPOSIT' });
  const advice = `check baseUrl, ${KEYS.baseUrl}, and the proxy, if you use one. Nothing was sent`;
  await expect(reading(code)).rejects.toThrow(`(${code}): ${advice}`);
  await expect(reading('ECONNRESET')).rejects.toThrow('(ECONNRESET). Nothing was sent');
});

it.each(['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'])(
  '%s names the CA',
  async code => {
    const call = new Call('create', KEYS);
    const reading = async () =>
      readCreated({ code, mayHaveLeft: false, received: '' }, call, { ...CARD, paymentType: 'DEPOSIT' });
    await expect(reading()).rejects.toThrow('name its CA in NODE_EXTRA_CA_CERTS, or pass an agent with `ca`. Nothing');
  },
);

it.each(['{"success":false}', '{"result":{"success":false}}'])(
  'an answer without a record names paymentStatus: %s',
  async body => {
    const gateway = new GatewayClient({ ...KEYS, fetch: wire(new Response(body)).fetch });
    await expect(gateway.createDeposit(CARD)).rejects.toThrow(
      'to the creation of a payment, and the answer cannot be read: paymentStatus: is missing, or is not text. A payment may exist',
    );
  },
);

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
