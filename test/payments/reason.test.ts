// error.reason: the gateway's own words of a refusal, if the merchant asks for them, without customer data.
import { inspect } from 'node:util';
import { type ApiError, GatewayClient } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { CARD, errorOf, ID, OTHER_ID } from '../support/fixtures.ts';
import { json, wire } from '../support/wire.ts';

const apiKey = 'key-of-the-shop-1';
const request = {
  paymentMethod: 'CARD',
  amount: '25.50',
  currency: 'EUR',
  reference: 'order-1',
  description: 'Two blue lamps',
  webhookUrl: 'https://shop.example/callbacks',
  customer: { firstName: 'Zoë', lastName: 'Zoë Müller-Lang', email: 'zoe@customer.example', phone: '+49 170 1234567' },
  billingAddress: { street: 'Lindenallee 5', city: 'Köln', countryCode: 'DE' },
} as const;

interface Refusal {
  status?: number;
  errorReasons?: boolean;
  apiKey?: string;
  customer?: object;
}

async function refusalOf(body: string, { status = 422, customer = request.customer, ...options }: Refusal = {}) {
  const { fetch } = wire(json(body, status));
  const gateway = new GatewayClient({
    ...{ baseUrl: 'https://gateway.example', apiKey, signKey: 'sign-key', retries: 0, fetch },
    ...{ errorReasons: true, ...options },
  });
  return (await errorOf(gateway.createDeposit({ ...request, customer } as never))) as ApiError;
}

describe('the reason of a refusal', () => {
  it.each([
    ['{"message":"amount is below the minimum"}', 'amount is below the minimum'],
    ['{"error":{"code":17,"message":"terminal is closed"}}', 'terminal is closed'],
    ['{"errors":{"currency":["is not enabled"],"amount":["is too small"]}}', 'is not enabled; is too small'],
    ['{"errors":[{"field":"amount","detail":"is too small"}],"title":"Invalid"}', 'amount; is too small; Invalid'],
    ['{"result":null,"errorMessage":"Duplicate\\n reference"}', 'Duplicate reference'],
    ['{"errorDescription":"is closed","error_description":"for today"}', 'is closed; for today'],
    ['Signature mismatch', 'Signature mismatch'],
    ['Signature mismatch ["hex"]', 'Signature mismatch ["hex"]'],
    ['{"message":" is closed\\n"}', 'is closed'],
    // As htmlspecialchars() of PHP writes it.
    ['{"message":"&lt;amount&gt; &amp; &quot;currency&quot; don&#039;t fit"}', `<amount> & "currency" don't fit`],
    ['{"message":"&#x17B;&#xf3;&#322;ty &#1114111;&#1114112; &nbsp;; &Apos;"}', "Żółty \u{10ffff}&#***; &nbsp;; '"],
    ['{"error":{"a":{"b":{"c":{"d":{"e":"six deep"}}}}}}', 'six deep'],
  ])('of %s is %s', async (body, reason) => {
    expect(await refusalOf(body)).toMatchObject({ name: 'ApiError', outcome: 'rejected', reason });
  });

  it.each([
    ...['', '{}', '{"id":17}', '<html><body>Bad gateway</body></html>', '{"message":"cut', '{"message":{}}', '[]'],
    '\n<html><body>Bad gateway</body></html>',
    '{"usermessage":"of Zoë"}',
    '{"message_id":"17"}',
    '{"error":{"a":{"b":{"c":{"d":{"e":{"f":"seven deep"}}}}}}}',
  ])('of %j is absent', async body => {
    expect(await refusalOf(body)).not.toHaveProperty('reason');
  });

  it.each([400, 499])('is there for status %i', async status => {
    expect(await refusalOf('{"message":"no"}', { status })).toHaveProperty('reason', 'no');
  });

  it('is there for statuses whose outcome is unknown, and for lookups', async () => {
    expect(await refusalOf('{"message":"already exists"}', { status: 409 })).toMatchObject({
      outcome: 'unknown',
      reason: 'already exists',
    });
    const { fetch } = wire(json('{"message":"no such payment"}', 404));
    const gateway = new GatewayClient({
      baseUrl: 'https://g.example',
      apiKey,
      signKey: 'k',
      fetch,
      errorReasons: true,
    });
    expect(await errorOf(gateway.getPayment(ID))).toMatchObject({
      name: 'PaymentNotFoundError',
      reason: 'no such payment',
    });
  });

  it.each([301, 500, 502])('is absent for status %i, whose words are not those of a refusal', async status => {
    expect(await refusalOf('{"message":"stack trace"}', { status })).not.toHaveProperty('reason');
  });

  it('is absent unless it is asked for', async () => {
    expect(await refusalOf('{"message":"no"}', { errorReasons: false })).not.toHaveProperty('reason');
    const { fetch } = wire(json('{"message":"no"}', 422));
    const gateway = new GatewayClient({ baseUrl: 'https://gateway.example', apiKey, signKey: 'sign-key', fetch });
    expect(await errorOf(gateway.createDeposit(request as never))).not.toHaveProperty('reason');
  });

  it.each([
    ['ZOË MÜLLER-LANG of Lindenallee 5, Köln is blocked', '*** of ***, *** is blocked'],
    ['Lindenallee  5 is blocked', '*** is blocked'],
    ['"Two blue lamps" is refused', '"***" is refused'],
    ['jane.doe@elsewhere.example is unknown', '*** is unknown'],
    ['card 4242 4242 4242 4242 is declined', 'card *** is declined'],
    ['call +49 (0)170-1234567', 'call ***'],
    ['account DE89370400440532013000 is closed', 'account *** is closed'],
    ['born 1990-02-28', 'born ***'],
    ['wallet bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', 'wallet ***'],
    ['key key-of-the-shop-1 is not valid', 'key *** is not valid'],
    ['https://shop.example/callbacks does not answer', '*** does not answer'],
    [`payment ${ID} exists for order-1 over 25.50 EUR`, `payment ${ID} exists for order-1 over 25.50 EUR`],
    ['the minimum is 100000', 'the minimum is ***'],
    ['Zoë is blocked', '*** is blocked'],
    ['DEPOSIT by CARD is closed', 'DEPOSIT by CARD is closed'],
    [`payment ${OTHER_ID} is of jane.doe@elsewhere.example`, `payment ${OTHER_ID} is of ***`],
  ])('of %j is %j', async (message, reason) => {
    const error = await refusalOf(JSON.stringify({ message }), { status: 409 });
    expect(error.reason).toBe(reason);
  });

  it.each([
    ['王伟', '김수', '王伟 김수 is blocked', '*** *** is blocked'],
    ['Wu', 'Ng', 'WU Ng is blocked: wuthering, song', '*** *** is blocked: wuthering, song'],
    ['J', ' X ', 'J X is blocked', 'J X is blocked'],
    ['王伟', '김수', '客户王伟被拒, 김수님', '客户***被拒, ***님'],
    ['Zoë', '林某', 'zoëlike, 林某某', '***like, ***某'],
    [
      'Zo',
      "O'Brien",
      'Customer O&#039;Brien, O&#x27;BRIEN or O&apos;Brien is blocked',
      'Customer ***, *** or *** is blocked',
    ],
    ['Éa', 'Ян', 'ÉA Ян: gélatine réactive, янтарь', '*** ***: gélatine réactive, янтарь'],
  ])('holds no name of two letters, and is not cut up by them: %s %s', async (firstName, lastName, message, reason) => {
    const error = await refusalOf(JSON.stringify({ message }), { customer: { firstName, lastName } });
    expect(error).toHaveProperty('reason', reason);
  });

  it('holds no key, and is not cut up by one of two letters', async () => {
    const reasonBy = (apiKey: string) => refusalOf('{"message":"Key ab or abc about"}', { apiKey });
    expect(await reasonBy('ab')).toHaveProperty('reason', 'Key ab or abc about');
    expect(await reasonBy('abc')).toHaveProperty('reason', 'Key ab or *** about');
  });

  it('has 300 characters at most, also of a body that is made to keep us busy', async () => {
    expect((await refusalOf(JSON.stringify({ message: 'no '.repeat(500) }))).reason).toHaveLength(301);
    expect((await refusalOf(JSON.stringify({ message: 'a'.repeat(1_000_000) }))).reason).toHaveLength(301);
    const longest = `${'no '.repeat(99)}no.`;
    expect((await refusalOf(JSON.stringify({ message: longest }))).reason).toBe(longest);
  });

  async function reasonBeside(description: string | null, message: string) {
    const { fetch } = wire(json(JSON.stringify({ message }), 422));
    const keys = { baseUrl: 'https://g.example', apiKey, signKey: 'k' };
    const gateway = new GatewayClient({ ...keys, fetch, errorReasons: true });
    return ((await errorOf(gateway.createDeposit({ ...CARD, description }))) as ApiError).reason;
  }

  it.each([5, 100, 900, 2_000])('holds no word of a description of %i words that is repeated whole', async count => {
    const description = 'lamp '.repeat(count).trim();
    expect(await reasonBeside(description, `refused: ${description}`)).toBe('refused: ***');
  });

  it('goes on after a description of 64 characters', async () => {
    const description = 'lamp '.repeat(13).trim();
    expect(description).toHaveLength(64);
    expect(await reasonBeside(description, `"${description}" is refused`)).toBe('"***" is refused');
  });

  it.each([null, '   '])('is whole where the description is %j', async description => {
    expect(await reasonBeside(description, 'is closed today')).toBe('is closed today');
  });

  it('holds no beginning of a name on which a long text is cut', async () => {
    const message = `${'aaaaaaaaaaaaaaaaaaaaaaa@b.example '.repeat(35)}   Lindenallee 5`;
    expect(message.indexOf('Linden')).toBeLessThan(1_200);
    expect(message.length).toBeGreaterThan(1_200);
    expect((await refusalOf(JSON.stringify({ message }))).reason).not.toMatch(/Linden/);
  });

  it('is printed with the error, and nothing of the body beside it', async () => {
    const error = await refusalOf('{"message":"no","trace":"secret words"}');
    expect(inspect(error)).toContain("reason: 'no'");
    expect(inspect(error, { showHidden: true, depth: 9 })).not.toContain('secret words');
    expect(JSON.parse(JSON.stringify(error))).toHaveProperty('reason', 'no');
  });
});
