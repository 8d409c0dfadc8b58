import { ConfigurationError, GatewayClient, signBody } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { CARD, KEYS, mirroring } from '../support/fixtures.ts';
import { wire } from '../support/wire.ts';

describe('signBody', () => {
  // RFC 4231, section 4: test cases whose key is text or repeated bytes that are valid UTF-8.
  it.each([
    ['Jefe', 'what do ya want for nothing?', '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'],
    ['\x0b'.repeat(20), 'Hi There', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
  ])('agrees with RFC 4231 on the key %j', (key, data, hex) => {
    expect(signBody(data, key)).toBe(hex);
    expect(signBody(new TextEncoder().encode(data), key, 'base64')).toBe(Buffer.from(hex, 'hex').toString('base64'));
  });

  // printf 'Zażółć 😀 \xe2\x80\xa8' | openssl dgst -sha256 -hmac 'klucz-ż' -hex
  it('agrees with openssl on a body and a key beyond ASCII', () => {
    expect(signBody('Zażółć 😀 \u2028', 'klucz-ż')).toBe(
      '5f7548abfcc6ba5c9267f70cd738c3e7d3c3d5ec4e2eaf0fab02028cd191f968',
    );
  });

  // printf '' | openssl dgst -sha256 -hmac 'test-sign-key' -hex
  it('agrees with openssl on an empty body', () => {
    expect(signBody('', 'test-sign-key')).toBe('1b6a6e775c1d9f15dca5b7c67a276903f3c194837baf0fd2c86f021bbd8abed0');
  });

  it('refuses an empty key and another encoding', () => {
    expect(() => signBody('{}', '')).toThrow(ConfigurationError);
    expect(() => signBody('{}', '')).toThrow('an empty one signs nothing');
    expect(() => signBody('{}', 'key', 'base64url' as 'base64')).toThrow(ConfigurationError);
    expect(() => signBody('{}', 'key', 'base64url' as 'base64')).toThrow("takes the encoding 'hex' or 'base64'");
  });
});

describe('a create', () => {
  const request = { ...CARD, reference: 'order/1 é 😀' };
  const body =
    '{"paymentType":"DEPOSIT","paymentMethod":"CARD","amount":25.50,"currency":"EUR","reference":"order/1 é 😀","webhookUrl":"https://shop.example/callbacks"}';

  // printf '%s' "$body" | openssl dgst -sha256 -hmac 'test-sign-key' -hex, and with -binary | base64
  it.each([
    ['hex', '0ca565f3202bbb89aa0833b840707212ea6f71ac70524dca5b51521f4a720a06'],
    ['base64', 'DKVl8yAru4mqCDO4QHByEupvcaxwUk3KW1FSH0pyCgY='],
  ] as const)('is sent with the signature of its very bytes, in %s', async (signatureEncoding, signature) => {
    const { fetch, sent } = wire(mirroring());
    await new GatewayClient({ ...KEYS, signatureEncoding, fetch }).createDeposit(request);
    expect(sent).toHaveLength(1);
    expect(sent[0]?.body).toBe(body);
    expect(sent[0]?.headers.get('signature')).toBe(signature);
  });

  const HALF = 'a text holds half a character (a lone surrogate), as when an emoji is cut in two';
  const UNWRITABLE =
    'a value cannot be written as JSON: a BigInt, an object that contains itself, or a getter that throws';

  it.each([
    ['slashes, accents and emoji', { description: 'a/b é 😀' }, '"description":"a/b é 😀"'],
    ['the line separator U+2028', { description: 'a\u2028b' }, '"description":"a\u2028b"'],
    ['what only looks like half a character', { description: '\\ud83d' }, '"description":"\\\\ud83d"'],
    ['what looks like it behind a backslash', { description: '\\\\ud83d' }, '"description":"\\\\\\\\ud83d"'],
    ['what looks like another escape', { description: '\u0007 \\udx' }, '"description":"\\u0007 \\\\udx"'],
  ])('carries %s', async (_, changes, fragment) => {
    const { fetch, sent } = wire(mirroring());
    await new GatewayClient({ ...KEYS, fetch }).createDeposit({ ...request, ...(changes as object) });
    expect(sent[0]?.body).toContain(fragment);
    expect(sent[0]?.headers.get('signature')).toBe(signBody(sent[0]?.body ?? '', KEYS.signKey));
  });

  it.each([
    ['a BigInt', { browser: { id: 10n } }, UNWRITABLE],
    ['an object that holds itself', { browser: selfish() }, UNWRITABLE],
    ['a list that holds itself', { browser: { list: selfishList() } }, UNWRITABLE],
    // PHP: json_decode('"\ud83d"') fails with "Single unpaired high surrogate in Unicode escape".
    ['half an emoji', { description: 'sold \ud83d' }, HALF],
    ['the other half', { customer: { firstName: '\ude00' } }, HALF],
    ['a half behind a backslash', { description: '\\\ud83d' }, HALF],
    ['a half in a name', { browser: { '\udbff': 1 } }, HALF],
  ])('refuses %s before anything is sent', async (_, changes, message) => {
    const { fetch, sent } = wire(mirroring());
    await expect(new GatewayClient({ ...KEYS, fetch }).createDeposit({ ...request, ...changes })).rejects.toMatchObject(
      { name: 'InvalidRequestError', outcome: 'not_sent', issues: [{ path: '', message }] },
    );
    expect(sent).toEqual([]);
  });

  it('leaves the request as it was, down to its lists, which may be frozen', async () => {
    const { fetch, sent } = wire(mirroring());
    const item = { sku: 'a' };
    const items = Object.freeze([item, 10.5]);
    await new GatewayClient({ ...KEYS, fetch }).createDeposit({ ...request, additionalParameters: { items } });
    expect(sent[0]?.body).toContain('"additionalParameters":{"items":[{"sku":"a"},10.5]}');
    expect(items[0]).toBe(item);
  });

  it('sends `extra` at the end, and refuses in it what the request itself has', async () => {
    const { fetch, sent } = wire(mirroring());
    const gateway = new GatewayClient({ ...KEYS, fetch });
    await gateway.createDeposit(request, { extra: { loyalty: { points: 3 } } });
    expect(sent[0]?.body).toBe(`${body.slice(0, -1)},"loyalty":{"points":3}}`);
    const message = 'is a field of the request: set it there, not in extra';
    for (const name of ['amount', 'paymentType', 'paymentMethod', 'webhookUrl']) {
      await expect(gateway.createDeposit(request, { extra: { [name]: 'CARD' } })).rejects.toMatchObject({
        outcome: 'not_sent',
        issues: [{ path: `extra.${name}`, message }],
      });
    }
  });
});

function selfishList(): unknown[] {
  const list: unknown[] = [];
  list.push(list);
  return list;
}

function selfish() {
  const self: Record<string, unknown> = {};
  self.self = self;
  return self;
}
