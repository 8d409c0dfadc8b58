// signCallbackUrls: the gateway signs no callbacks, so the SDK signs the addresses that it gives to the gateway.
import { inspect } from 'node:util';
import { createWebhookHandler, GatewayClient, memoryJournal, type Payment } from 'payment-gateway-sdk';
import { Sandbox, type SandboxOptions } from 'payment-gateway-sdk/sandbox';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { errorOf, KEYS, OTHER_ID } from '../support/fixtures.ts';
import { whileTimePasses } from '../support/passing-time.ts';
import { completed, openShop, post, resultsOf, warningsOf } from '../support/shop-callbacks.ts';
import { json, wire } from '../support/wire.ts';

afterEach(() => void vi.useRealTimers());

const SHOP = 'https://shop.example/callbacks';
const CARD = { paymentMethod: 'CARD', amount: '25.50', currency: 'EUR', webhookUrl: SHOP } as const;

/** The body that a client sends. */
async function sent(request: object, options: object = {}): Promise<{ text: string; fields: Record<string, string> }> {
  const { fetch, sent } = wire(json(JSON.stringify({ result: completed })));
  const gateway = new GatewayClient({ ...KEYS, fetch, signCallbackUrls: true, ...options });
  await gateway.createDeposit({ ...CARD, ...request });
  const text = sent[0]?.body ?? '';
  return { text, fields: JSON.parse(text) };
}

/** Written by test/fixtures/callback-tokens.php. */
const OF_ORDER_1042 = 'wpX1AOEwSm5aEcgRHFJe3g.IwBRj6LJsTex6YZMITMxCw';
const OF_ZAMOWIENIE = 'QtGugNIpfFPW_XUED-pb6A.SPSNB8zBsRzLl_kaeMPoNg';
const OF_THE_BODY = 'YbjwlIgv7ThS187zpEebCQ.YjNzNpre_v0_D6t-yiB2Tw';

describe('the address of a callback', () => {
  it.each([
    ['a plain reference', 'order-1042', OF_ORDER_1042],
    ['white space at its ends, which a gateway may trim', ' order-1042\t\0', OF_ORDER_1042],
    ['another case, which a gateway may fold', 'ORDER-1042', OF_ORDER_1042],
    ['any alphabet', 'Zamówienie 5/8 ŁÓDŹ 😀', OF_ZAMOWIENIE],
    ['the same letters, composed of other characters', 'Zamówienie 5/8 łódź 😀'.normalize('NFD'), OF_ZAMOWIENIE],
    ['none', undefined, OF_THE_BODY],
  ])('carries the token of the reference: %s', async (_, reference, token) => {
    const { fields } = await sent(reference === undefined ? {} : { reference });
    expect(fields.webhookUrl).toBe(`${SHOP}?callbackToken=${token}`);
  });

  it.each([
    ['straße', 'STRASSE'],
    ['ΟΔΟΣ', 'οδος'],
    ['ılık', 'ILIK'],
    ['İstanbul', 'İSTANBUL'],
    ['ПЛАТЁЖ-7', 'платёж-7'],
  ])('is the same for %s and %s', async (one, other) => {
    const [a, b] = [await sent({ reference: one }), await sent({ reference: other })];
    expect(a.fields.webhookUrl).toBe(b.fields.webhookUrl);
  });

  it.each([
    ['https://shop.example/callbacks?', 'https://shop.example/callbacks?callbackToken=T'],
    ['https://shop.example/callbacks?shop=1', 'https://shop.example/callbacks?shop=1&callbackToken=T'],
    ['https://shop.example/callbacks?shop=1&', 'https://shop.example/callbacks?shop=1&callbackToken=T'],
    ['https://shop.example/callbacks#top', 'https://shop.example/callbacks?callbackToken=T#top'],
    ['https://shop.example/?a=%20ż#x?y#z', 'https://shop.example/?a=%20ż&callbackToken=T#x?y#z'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000?callbackToken=T'],
  ])('keeps all that %s has', async (webhookUrl, signed) => {
    const { fields } = await sent({ webhookUrl, reference: 'order-1042' });
    expect(fields.webhookUrl).toBe(signed.replace('=T', `=${OF_ORDER_1042}`));
  });

  it('is the default of the client', async () => {
    const { fields } = await sent({ webhookUrl: undefined, reference: 'order-1042' }, { webhookUrl: SHOP });
    expect(fields.webhookUrl).toBe(`${SHOP}?callbackToken=${OF_ORDER_1042}`);
  });

  it('is both addresses, and a null stays one', async () => {
    const both = await sent({ callbackUrl: 'https://shop.example/b?c', reference: 'order-1042' });
    expect(both.fields).toMatchObject({
      webhookUrl: `${SHOP}?callbackToken=${OF_ORDER_1042}`,
      callbackUrl: `https://shop.example/b?c&callbackToken=${OF_ORDER_1042}`,
    });
    const one = await sent({ webhookUrl: null, callbackUrl: SHOP, reference: 'order-1042' });
    expect(one.fields).toMatchObject({ webhookUrl: null, callbackUrl: `${SHOP}?callbackToken=${OF_ORDER_1042}` });
  });

  it('is all that changes in the body, which is signed as it is sent', async () => {
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

  it('is as it was given unless signing is asked for', async () => {
    expect((await sent({ reference: 'order-1042' }, { signCallbackUrls: undefined })).fields.webhookUrl).toBe(SHOP);
  });
});

describe('checkCallbackUrl', () => {
  const gateway = new GatewayClient({ ...KEYS, formerSignKeys: ['former-key'] });
  const url = (token: string) => `${SHOP}?a=1&callbackToken=${token}`;

  it('answers the token of an address that this client gives out', () => {
    expect(gateway.checkCallbackUrl(url(OF_ORDER_1042))).toBe(OF_ORDER_1042);
    expect(gateway.checkCallbackUrl(`${url(OF_ORDER_1042)}&status=done#x`)).toBe(OF_ORDER_1042);
    expect(gateway.checkCallbackUrl(`${url(OF_ORDER_1042)}#x`)).toBe(OF_ORDER_1042);
    expect(gateway.checkCallbackUrl(`/callbacks?callbackToken=${OF_ORDER_1042.replace('.', '%2E')}`)).toBe(
      OF_ORDER_1042,
    );
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
    ['one in a fragment that is all there is', `#&callbackToken=${OF_ORDER_1042}`],
    ['a later one that is wrong', `${url(OF_ORDER_1042)}&callbackToken=x`],
    ['half a character', url('%E0%A4%A')],
    ['no address at all', ''],
  ])('answers nothing to %s', (_, address) => {
    expect(gateway.checkCallbackUrl(address)).toBeUndefined();
  });

  it('counts tokens of former sign keys, and of no other', async () => {
    const { fields } = await sent({ reference: 'order-1042' }, { signKey: 'former-key' });
    const former = fields.webhookUrl ?? '';
    expect(gateway.checkCallbackUrl(former)).toMatch(/^wpX1AOEwSm5aEcgRHFJe3g\./);
    expect(new GatewayClient(KEYS).checkCallbackUrl(former)).toBeUndefined();
  });

  it.each([
    ['its own reference', 'order-1042', true],
    ['the same reference, folded by the gateway', 'ORDER-1042 ', true],
    ['another reference', 'order-1043', false],
    ['no reference: any token shows that it was given out here', null, true],
    ['an empty reference', '', true],
  ])('isCallbackOf a payment with %s', (_, reference, is) => {
    expect(gateway.isCallbackOf(OF_ORDER_1042, { ...completed, reference } as Payment)).toBe(is);
  });

  it('isCallbackOf nothing without a good token', () => {
    expect(gateway.isCallbackOf('wpX1AOEwSm5aEcgRHFJe3g.x', { ...completed, reference: 'order-1042' })).toBe(false);
    expect(gateway.isCallbackOf('x', { ...completed, reference: null } as Payment)).toBe(false);
  });

  it('works detached and through a Proxy', () => {
    const { checkCallbackUrl } = gateway;
    expect(checkCallbackUrl(url(OF_ORDER_1042))).toBe(OF_ORDER_1042);
    const container = new Proxy(gateway, {});
    expect(container.checkCallbackUrl(url(OF_ORDER_1042))).toBe(OF_ORDER_1042);
    expect(container.isCallbackOf(OF_ORDER_1042, { ...completed, reference: 'order-1042' })).toBe(true);
  });
});

/** A shop and its gateway, end to end. */
function open(options: { sandbox?: SandboxOptions; client?: object; handler?: object } = {}) {
  const events: unknown[] = [];
  const errors: unknown[] = [];
  const paid: unknown[] = [];
  const seen: string[] = [];
  let shopUrl = (url: string) => url;
  const sandbox: Sandbox = new Sandbox({
    ...(options.sandbox as SandboxOptions<'standard'>),
    fetch: async (url, init) => {
      const response = await handler(new Request(shopUrl(url), init));
      seen.push(`${response.status} ${await response.clone().text()}`);
      return response;
    },
  });
  const gateway = new GatewayClient({
    ...sandbox.clientOptions,
    signCallbackUrls: true,
    onEvent: event => void events.push(event),
    ...options.client,
  });
  const handler = createWebhookHandler({
    gateway,
    onPayment: payment => void paid.push(payment.reference),
    onError: error => void errors.push(error),
    onEvent: event => void events.push(event),
    ...options.handler,
  });
  const pay = async (reference: string | null) => {
    const { payment } = await gateway.createDeposit({ ...CARD, reference });
    await sandbox.complete(payment.id);
    await sandbox.idle();
    return payment;
  };
  return {
    sandbox,
    gateway,
    handler,
    events,
    errors,
    paid,
    seen,
    pay,
    through: (change: typeof shopUrl) => (shopUrl = change),
  };
}

describe("unsigned: 'refuse'", () => {
  const refuse = { handler: { unsigned: 'refuse' } };

  it('takes callbacks with their token, of every alphabet and without a reference', async () => {
    const { pay, seen, paid } = open(refuse);
    for (const reference of ['order-1', 'Zamówienie 5/8 łódź 😀', '注文・1', null]) await pay(reference);
    expect(seen).toEqual(Array(4).fill('200 handled'));
    expect(paid).toEqual(['order-1', 'Zamówienie 5/8 łódź 😀', '注文・1', null]);
  });

  it('answers 401 to others before anything is read or looked up', async () => {
    const { handler, gateway, events, errors, paid } = open(refuse);
    const { payment } = await gateway.createDeposit({ ...CARD, reference: 'order-1' });
    events.length = 0;
    for (const url of [SHOP, `${SHOP}?callbackToken=${OF_ORDER_1042}`]) {
      const unread = new ReadableStream({ pull: () => new Promise(() => {}) });
      expect((await handler(post(unread, {}, url))).status).toBe(401);
      expect((await handler(post(JSON.stringify(payment), {}, url))).status).toBe(401);
    }
    expect(paid).toEqual([]);
    const message =
      'A callback came without the token that signCallbackUrls adds to its address, or with that of another payment. It may be forged.';
    expect(errors).toMatchObject(Array(4).fill({ name: 'WebhookError', code: 'unsigned', message, issues: [] }));
    expect(events).toMatchObject(
      Array(4).fill({ type: 'callback', result: 'refused', code: 'unsigned', httpStatus: 401 }),
    );
  });

  it('answers 401 to the token of another payment, after the lookup', async () => {
    const { gateway, handler, sandbox, errors, paid, seen, pay } = open(refuse);
    const other = await pay('order-2');
    const token = new URL(sandbox.deliveries[0]?.url ?? '').search;
    const { payment } = await gateway.createDeposit({ ...CARD, reference: 'order-1' });
    await sandbox.complete(payment.id);
    await sandbox.idle();
    paid.length = 0;
    const forged = await handler(post(JSON.stringify({ id: payment.id }), {}, `${SHOP}${token}`));
    expect([forged.status, paid, other.reference, seen.length]).toEqual([401, [], 'order-2', 2]);
    expect(errors).toMatchObject([{ code: 'unsigned', paymentId: payment.id }]);
  });

  it('refuses what was created before signing was switched on, and what a gateway without queries sends', async () => {
    const before = open({ ...refuse, client: { signCallbackUrls: true } });
    const unsigning = new GatewayClient({ ...before.sandbox.clientOptions });
    const { payment } = await unsigning.createDeposit({ ...CARD, reference: 'order-1' });
    await before.sandbox.complete(payment.id);
    await before.sandbox.idle();
    const dropping = open({ ...refuse, sandbox: { callbackQuery: 'drop' } });
    await dropping.pay('order-1');
    expect([before.seen, dropping.seen]).toEqual([['401 unsigned'], ['401 unsigned']]);
    expect(dropping.sandbox.deliveries[0]?.url).toBe(SHOP);
    // The sweep needs no token.
    expect(await dropping.handler.process(dropping.sandbox.payments[0]?.id ?? '')).toMatchObject({ result: 'ran' });
  });

  it('answers 401 to the token of another payment also if the payment is found at the second look', async () => {
    const { gateway, sandbox, pay } = open(refuse);
    await pay('order-2');
    const token = new URL(sandbox.deliveries[0]?.url ?? '').search;
    let looks = 0;
    const shop = openShop({
      unsigned: 'refuse',
      gateway: {
        checkCallbackUrl: gateway.checkCallbackUrl,
        isCallbackOf: gateway.isCallbackOf,
        getPayment: async id => {
          if (++looks === 1) throw await errorOf(gateway.getPayment(OTHER_ID));
          return { ...completed, id, reference: 'order-1' };
        },
      },
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const replying = shop.reply(post(JSON.stringify({ id: OTHER_ID }), {}, `${SHOP}${token}`));
    expect(await whileTimePasses(replying, 20)).toBe('401 unsigned');
    expect([shop.effects, looks]).toEqual([[], 2]);
  });

  it('takes callbacks of payments made under a former sign key', async () => {
    const { sandbox, gateway, pay, seen } = open();
    await gateway.createDeposit({ ...CARD, reference: 'order-1' });
    const rotated = new GatewayClient({
      ...sandbox.clientOptions,
      signKey: 'a new key',
      formerSignKeys: [sandbox.clientOptions.signKey],
      signCallbackUrls: true,
    });
    const handler = createWebhookHandler({ gateway: rotated, unsigned: 'refuse', onPayment: () => {} });
    await pay('order-2');
    const { url, body } = sandbox.deliveries[0] ?? { url: '', body: '' };
    expect([(await handler(post(body, {}, url))).status, seen]).toEqual([200, ['200 handled']]);
  });

  it.each([
    ['a gateway that cannot check', { getPayment: async () => completed }],
    ['one that knows no address', { getPayment: async () => completed, isCallbackOf: () => true }],
    ['one that knows no payment', { getPayment: async () => completed, checkCallbackUrl: () => 'token' }],
    ['a client that does not sign', new GatewayClient(KEYS)],
  ])('is a ConfigurationError with %s', async (_, gateway) => {
    const make = () => createWebhookHandler({ gateway, unsigned: 'refuse', onPayment: () => {} });
    expect(make).toThrow(
      expect.objectContaining({
        name: 'ConfigurationError',
        message: expect.stringContaining('signCallbackUrls: true'),
      }),
    );
  });
});

describe("unsigned: 'limit'", () => {
  it('takes what a gateway cannot check for unsigned', async () => {
    const checkCallbackUrl = () => {
      throw new Error('no keys');
    };
    const { reply, events } = openShop({
      unsigned: 'limit',
      gateway: { getPayment: async () => completed, checkCallbackUrl },
    });
    expect(await reply(post(JSON.stringify(completed)))).toBe('200 handled');
    expect(events).toMatchObject([{ lane: 'unsigned' }, { lane: 'unsigned' }]);
  });

  it('takes callbacks with and without a token, in lanes of their own', async () => {
    const { sandbox, gateway, handler, events, pay, seen } = open();
    await pay('order-1');
    expect(resultsOf(events as never)).toEqual(['received', 'ran']);
    expect(events.filter(event => (event as { type: string }).type === 'callback')).toMatchObject([
      { lane: 'signed' },
      { lane: 'signed' },
    ]);
    events.length = 0;
    const { payment } = await gateway.createDeposit({ ...CARD, reference: 'order-2' });
    await handler(post(JSON.stringify({ id: payment.id })));
    expect(events.filter(event => (event as { type: string }).type === 'callback')).toMatchObject([
      { lane: 'unsigned' },
      { lane: 'unsigned' },
    ]);
    expect([seen, sandbox.payments.length]).toEqual([['200 handled'], 2]);
  });

  it('warns of the token of another payment, and acts on the record', async () => {
    const { gateway, handler, sandbox, events, paid, pay } = open();
    await pay('order-2');
    const token = new URL(sandbox.deliveries[0]?.url ?? '').search;
    const { payment } = await gateway.createDeposit({ ...CARD, reference: 'order-1' });
    const reply = await handler(post(JSON.stringify({ id: payment.id }), {}, `${SHOP}${token}`));
    expect([reply.status, paid]).toEqual([200, ['order-2', 'order-1']]);
    expect(warningsOf(events as never)).toMatchObject([
      { code: 'callback_mismatch', message: expect.stringContaining('the token of its address') },
    ]);
  });

  it('never lets a flood of unknown ids turn a signed callback away', { tags: 'long' }, async () => {
    const { gateway, paid } = open();
    const { payment } = await gateway.createDeposit({ ...CARD, reference: 'order-1' });
    const endless = Promise.withResolvers<never>();
    const flooded = createWebhookHandler({
      gateway: {
        checkCallbackUrl: gateway.checkCallbackUrl,
        getPayment: id => (id === payment.id ? gateway.getPayment(id) : endless.promise),
      },
      onPayment: ({ reference }) => void paid.push(reference),
      onError: () => {},
    });
    const forged = Array.from({ length: 1200 }, (_, index) =>
      flooded(post(JSON.stringify({ id: `11111111-2222-4333-8444-${String(index).padStart(12, '0')}` }))),
    );
    const { search } = new URL(
      (await sent({ reference: 'order-1' }, { signKey: 'sandbox-sign-key' })).fields.webhookUrl ?? '',
    );
    expect((await flooded(post(JSON.stringify({ id: payment.id }), {}, `${SHOP}${search}`))).status).toBe(200);
    expect(paid).toEqual(['order-1']);
    endless.reject(new Error('the end of the test'));
    const statuses = await Promise.all(forged.map(async reply => (await reply).status));
    expect(new Set(statuses)).toEqual(new Set([503]));
  });

  it('never remembers an id as unknown against a good token, and looks again', { tags: 'long' }, async () => {
    const { gateway } = open();
    let isKnown = false;
    const asked: number[] = [];
    const shop = openShop({
      gateway: {
        checkCallbackUrl: gateway.checkCallbackUrl,
        isCallbackOf: gateway.isCallbackOf,
        getPayment: async () => {
          asked.push(asked.length);
          if (isKnown) return { ...completed, id: OTHER_ID, reference: 'order-1' };
          throw await errorOf(gateway.getPayment(OTHER_ID));
        },
      },
    });
    const { search } = new URL(
      (await sent({ reference: 'order-1' }, { signKey: 'sandbox-sign-key' })).fields.webhookUrl ?? '',
    );
    const body = JSON.stringify({ id: OTHER_ID });
    expect(await shop.reply(post(body))).toBe('503 unknown_payment');
    expect(await shop.reply(post(body))).toBe('503 unknown_payment');
    expect(asked).toHaveLength(1);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const signed = shop.reply(post(body, {}, `${SHOP}${search}`));
    await expect.poll(() => asked.length).toBe(2);
    isKnown = true;
    expect(await whileTimePasses(signed, 20)).toBe('200 handled');
    // What was found is unknown no more, to callbacks without a token either.
    expect(await shop.reply(post(body))).toBe('200 handled before');
  });
});

describe('a create with a journal', () => {
  it('is the same request, with the same address, before and after signing was switched on or the key rotated', async () => {
    const sandbox = new Sandbox({ fetch: async () => new Response() });
    const journal = memoryJournal();
    const open = (options: object) => new GatewayClient({ ...sandbox.clientOptions, journal, ...options });
    const request = { ...CARD, reference: 'order-1' };
    const first = await open({ signCallbackUrls: true }).createDeposit(request);
    for (const options of [
      { signCallbackUrls: true },
      {},
      { signKey: 'another', formerSignKeys: ['x'], signCallbackUrls: true },
    ]) {
      const again = await open(options).createDeposit(request);
      expect([again.replayed, again.payment.id]).toEqual([true, first.payment.id]);
    }
    expect(sandbox.payments).toHaveLength(1);
  });
});

describe('the token', () => {
  it('is in no event, error or journal, and not in what the client prints', async () => {
    const journal = memoryJournal();
    const { sandbox, gateway, handler, events, errors, pay } = open({ client: { journal } });
    await pay('order-1');
    sandbox.faults.next('reject-422');
    errors.push(await errorOf(gateway.createDeposit({ ...CARD, reference: 'order-2' })));
    sandbox.faults.next('commit-then-cut');
    errors.push(await errorOf(gateway.createDeposit({ ...CARD, reference: 'order-3' })));
    const { url } = sandbox.deliveries[0] ?? { url: '' };
    errors.push(await handler(post('nope', {}, url)));
    const { search } = new URL(url);
    const token = search.slice(search.indexOf('=') + 1);
    expect(token).toHaveLength(45);
    const { rows } = await journal.list({ states: ['begun', 'created', 'freed'] });
    const printed = inspect([events, errors, rows, gateway, handler], { depth: 10, showHidden: true });
    expect(printed).toContain('order-1');
    expect(printed).not.toContain(token);
    expect(printed).not.toContain(token.split('.')[1]);
  });

  it.each([
    [{ signCallbackUrls: 'yes' }, 'signCallbackUrls must be true or false'],
    [{ formerSignKeys: 'key' }, 'formerSignKeys must be a list of keys'],
    [{ formerSignKeys: [''] }, 'formerSignKeys.0 is empty'],
    [{ formerSignKeys: ['key\n'] }, 'formerSignKeys.0 has an invisible character, a line break, or a space at an end'],
  ])('needs options of the right kind: %j', (options, told) => {
    expect(() => new GatewayClient({ ...KEYS, ...(options as object) })).toThrow(told);
  });
});
