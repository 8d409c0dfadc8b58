// What an answer says of the payment, where there is only half of it, or where it is no answer.
import { GatewayClient } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { answeredWith } from '../../src/payments/response.ts';
import { Call } from '../../src/telemetry/call.ts';
import { CARD, errorOf, ID, KEYS, record } from '../support/fixtures.ts';
import { wire } from '../support/wire.ts';

const beginning = `{"result":{"id":"${ID}","paymentSta`;

describe('the id of a create whose answer broke off', () => {
  it.each([
    ['in its body', [beginning, `HTTP/1.1 200 OK\r\n\r\n${beginning}`]],
    ['only in what arrived, which HTTP could not read', ['', `HTTP/1.1 200 OK\r\nx:\0\r\n\r\n${beginning}`]],
  ])('is found %s', async (_, received) => {
    const call = new Call('create', KEYS);
    const reading = async () => answeredWith({ code: 'ECONNRESET', mayHaveLeft: true, received }, call);
    expect(await errorOf(reading())).toMatchObject({
      name: 'ConnectionError',
      outcome: 'unknown',
      paymentId: ID,
    });
  });
});

it.each(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'])('%s names the address that may be wrong', async code => {
  const call = new Call('create', KEYS);
  const reading = async (code: string) => answeredWith({ code, mayHaveLeft: false, received: [] }, call);
  const advice = `check baseUrl, ${KEYS.baseUrl}, and whether it can be reached. Nothing was sent`;
  await expect(reading(code)).rejects.toThrow(`(${code}): ${advice}`);
  await expect(reading('ECONNRESET')).rejects.toThrow('(ECONNRESET). Nothing was sent');
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
