// signCallbackUrls: the token in the address of a callback, because the gateway signs no callbacks.
import { GatewayClient, memoryStore, type Payment } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it } from 'vitest';
import { CLIENT } from '../../src/webhooks/client-link.ts';
import { KEYS } from '../support/fixtures.ts';
import { json, wire } from '../support/wire.ts';
import { completed } from './shop-callbacks.ts';

const SHOP = 'https://shop.example/callbacks';
const CARD = { paymentMethod: 'CARD', amount: '25.50', currency: 'EUR', webhookUrl: SHOP } as const;

/** The body that a client sends. */
async function sent(
  request: { reference?: string; [field: string]: unknown },
  options: object = {},
): Promise<{ text: string; fields: Record<string, string> }> {
  const { reference = null } = request;
  const { fetch, sent } = wire(json(JSON.stringify({ result: { ...completed, reference } })));
  const gateway = new GatewayClient({ ...KEYS, fetch, signCallbackUrls: true, ...options });
  await gateway.createDeposit({ ...CARD, ...request });
  const text = sent[0]?.body ?? '';
  return { text, fields: JSON.parse(text) };
}

/** Written by test/fixtures/callback-tokens.php. */
const OF_ORDER_1042 = 'wpX1AOEwSm5aEcgRHFJe3g.IwBRj6LJsTex6YZMITMxCw';
const OF_ZAMOWIENIE = 'QtGugNIpfFPW_XUED-pb6A.SPSNB8zBsRzLl_kaeMPoNg';
const OF_NO_REFERENCE = 'xghmVDbb5wVOEBGTPf7y8Q.GoERZO6K7RzqabpfppGwNQ';

describe('the address of a callback', () => {
  it.each([
    ['a plain reference', 'order-1042', OF_ORDER_1042],
    ['white space at its ends, because a gateway may trim it', ' order-1042\t', OF_ORDER_1042],
    ['another case, because a gateway may fold it', 'ORDER-1042', OF_ORDER_1042],
    ['any alphabet', 'Zamówienie 5/8 ŁÓDŹ 😀', OF_ZAMOWIENIE],
    ['the same letters, composed of other characters', 'Zamówienie 5/8 łódź 😀'.normalize('NFD'), OF_ZAMOWIENIE],
    ['none', undefined, OF_NO_REFERENCE],
  ])('carries the token of the reference: %s', async (_, reference, token) => {
    const { fields } = await sent(reference === undefined ? {} : { reference });
    expect(fields.webhookUrl).toBe(`${SHOP}?callbackToken=${token}`);
  });

  it.each([
    ['https://shop.example/callbacks?', 'https://shop.example/callbacks?callbackToken=T'],
    ['https://shop.example/callbacks?shop=1', 'https://shop.example/callbacks?shop=1&callbackToken=T'],
    ['https://shop.example/callbacks?shop=1&', 'https://shop.example/callbacks?shop=1&callbackToken=T'],
    ['https://shop.example/callbacks#top', 'https://shop.example/callbacks?callbackToken=T#top'],
    ['https://shop.example/?a=%20ż#x?y#z', 'https://shop.example/?a=%20ż&callbackToken=T#x?y#z'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000?callbackToken=T'],
  ])('keeps every part of %s', async (webhookUrl, signed) => {
    const { fields } = await sent({ webhookUrl, reference: 'order-1042' });
    expect(fields.webhookUrl).toBe(signed.replace('=T', `=${OF_ORDER_1042}`));
  });

  it('is signed in both fields, and null stays null', async () => {
    const both = await sent({ callbackUrl: 'https://shop.example/b?c', reference: 'order-1042' });
    expect(both.fields).toMatchObject({
      webhookUrl: `${SHOP}?callbackToken=${OF_ORDER_1042}`,
      callbackUrl: `https://shop.example/b?c&callbackToken=${OF_ORDER_1042}`,
    });
    const one = await sent({ webhookUrl: null, callbackUrl: SHOP, reference: 'order-1042' });
    expect(one.fields).toMatchObject({ webhookUrl: null, callbackUrl: `${SHOP}?callbackToken=${OF_ORDER_1042}` });
  });

  it('is the only change in the body, and the signature covers it', async () => {
    const request = {
      reference: 'order-1042',
      description: 'Zamówienie 😀',
      additionalParameters: { a: [1, { b: null }] },
    };
    const [plain, signed] = [await sent(request, { signCallbackUrls: false }), await sent(request)];
    expect(signed.text).toBe(plain.text.replace(SHOP, `${SHOP}?callbackToken=${OF_ORDER_1042}`));
    expect(signed.text).toContain('"amount":25.50,');
    const sandbox = new Sandbox({ fetch: async () => new Response() });
    const gateway = new GatewayClient({ ...sandbox.clientOptions, signCallbackUrls: true });
    expect((await gateway.createDeposit({ ...CARD, ...request })).payment.reference).toBe('order-1042');
  });

  it('is unchanged by default', async () => {
    expect((await sent({ reference: 'order-1042' }, { signCallbackUrls: undefined })).fields.webhookUrl).toBe(SHOP);
  });

  it('does not change whether a create is the same: after signing was switched on, or a key changed', async () => {
    const sandbox = new Sandbox({ fetch: async () => new Response() });
    const store = memoryStore();
    const open = (options: object) => new GatewayClient({ ...sandbox.clientOptions, store, ...options });
    const request = { ...CARD, reference: 'order-1' };
    const first = await open({ signCallbackUrls: true }).createDeposit(request);
    const rotated = { signKey: 'another', formerSignKeys: ['x'], signCallbackUrls: true };
    for (const options of [{ signCallbackUrls: true }, {}, rotated]) {
      const again = await open(options).createDeposit(request);
      expect([again.replayed, again.payment.id]).toEqual([true, first.payment.id]);
    }
    expect(sandbox.payments).toHaveLength(1);
  });
});

describe('a token', () => {
  const { tokens } = new GatewayClient({ ...KEYS, formerSignKeys: ['former-key'] })[CLIENT];
  const url = (token: string) => `${SHOP}?a=1&callbackToken=${token}`;

  it('of this client is found in an address', () => {
    expect(tokens.check(url(OF_ORDER_1042))).toBe(OF_ORDER_1042);
    expect(tokens.check(`${url(OF_ORDER_1042)}&status=done#x`)).toBe(OF_ORDER_1042);
    expect(tokens.check(`${url(OF_ORDER_1042)}#x`)).toBe(OF_ORDER_1042);
    expect(tokens.check(`/callbacks?callbackToken=${OF_ORDER_1042.replace('.', '%2E')}`)).toBe(OF_ORDER_1042);
  });

  it.each([
    ['none', SHOP],
    ['an empty one', url('')],
    ['half of one', url('wpX1AOEwSm5aEcgRHFJe3g')],
    ['another digest', url(`A${OF_ORDER_1042.slice(1)}`)],
    ['another MAC', url(`${OF_ORDER_1042.slice(0, -1)}A`)],
    ['a longer one', url(`${OF_ORDER_1042}A`)],
    ['one in the fragment', `${SHOP}#?callbackToken=${OF_ORDER_1042}`],
    ['one in the fragment, behind a query', `${SHOP}?a#b&callbackToken=${OF_ORDER_1042}`],
    ['one in a fragment alone', `#&callbackToken=${OF_ORDER_1042}`],
    ['a later one that is wrong', `${url(OF_ORDER_1042)}&callbackToken=x`],
    ['half a character', url('%E0%A4%A')],
    ['an empty address', ''],
  ])('is not found: %s', (_, address) => {
    expect(tokens.check(address)).toBeUndefined();
  });

  it('of a former sign key is valid, and of no other key', async () => {
    const { fields } = await sent({ reference: 'order-1042' }, { signKey: 'former-key' });
    const former = fields.webhookUrl ?? '';
    expect(tokens.check(former)).toMatch(/^wpX1AOEwSm5aEcgRHFJe3g\./);
    expect(new GatewayClient(KEYS)[CLIENT].tokens.check(former)).toBeUndefined();
  });

  it.each([
    ['its own reference', 'order-1042', true],
    ['the same reference, folded by the gateway', 'ORDER-1042 ', true],
    ['another reference', 'order-1043', false],
    ['no reference: any valid token fits', null, true],
    ['an empty reference', '', true],
  ])('belongs to a payment with %s', (_, reference, is) => {
    expect(tokens.isOf(OF_ORDER_1042, { ...completed, reference } as Payment)).toBe(is);
  });
});
