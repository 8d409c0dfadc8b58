// The pages of the sandbox, without a browser: what they show, what their forms do, and what they refuse.
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox, type SandboxOptions } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it } from 'vitest';
import { CARD, OTHER_ID } from '../support/fixtures.ts';

const HERE = 'http://sandbox.localhost';
const returnUrl = 'https://shop.example/thanks';

function open(options: SandboxOptions<'onramp'> = {}) {
  const sandbox = new Sandbox({ fetch: async () => new Response(), terminal: 'onramp', ...options });
  const gateway = new GatewayClient(sandbox.clientOptions);
  const create = async (request: object = {}) =>
    (await gateway.createPayment({ paymentType: 'DEPOSIT', ...CARD, returnUrl, ...request } as never)).payment.id;
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await sandbox.fetch(HERE + path, { headers: { accept: 'text/html', ...headers } });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const post = async (path: string, form: Record<string, string> = {}, headers: Record<string, string> = {}) => {
    const init = { method: 'POST', body: new URLSearchParams(form), headers };
    const response = await sandbox.fetch(HERE + path, init);
    return {
      status: response.status,
      location: response.headers.get('location'),
      text: await response.text(),
    };
  };
  return { sandbox, gateway, create, get, post };
}

/** The words of a page, as a reader sees them. */
const wordsOf = (page: string) => page.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');

describe('the payment page', () => {
  it('shows what is to be paid, for what, and how', async () => {
    const { create, get } = open();
    const id = await create({ amount: '1249.5', reference: 'order-1', description: 'Two tickets' });
    const { status, text } = await get(`/pay/${id}`);
    expect(status).toBe(200);
    for (const word of ['1,249.50 EUR', 'order-1', 'Two tickets', 'Card', 'PENDING', 'Authorise first']) {
      expect(wordsOf(text)).toContain(word);
    }
  });

  it.each([
    [{ act: 'pay' }, { paymentStatus: 'COMPLETED' }],
    [{ act: 'authorize' }, { paymentStatus: 'AUTHORIZED' }],
    [
      { act: 'decline', reason: 'insufficient-balance' },
      { paymentStatus: 'FAILED', errorMessage: 'Insufficient balance' },
    ],
    [
      { act: 'decline', reason: 'cvv' },
      { paymentStatus: 'FAILED', errorMessage: 'CVV error' },
    ],
    [
      { act: 'decline', reason: 'canceled' },
      { paymentStatus: 'FAILED', errorMessage: 'Canceled by the user' },
    ],
    [
      { act: 'decline', reason: 'not-funded' },
      { paymentStatus: 'FAILED', errorMessage: 'Payment not funded' },
    ],
    [{ act: 'abandon' }, { paymentStatus: 'PENDING' }],
  ])('on %j moves the payment to %j, and returns to the shop', async (form, record) => {
    const { sandbox, create, post } = open();
    const id = await create();
    expect(await post(`/pay/${id}`, form as never)).toMatchObject({ status: 303, location: returnUrl });
    expect(sandbox.payments[0]).toMatchObject(record);
    await sandbox.idle();
    expect(sandbox.deliveries).toHaveLength(form.act === 'abandon' ? 0 : 1);
  });

  it('stays where it is without a returnUrl, and says how it ended', async () => {
    const { create, get, post } = open();
    const id = await create({ returnUrl: null });
    expect(await post(`/pay/${id}`, { act: 'decline', reason: 'cvv' })).toMatchObject({
      location: `/pay/${id}`,
    });
    const words = wordsOf((await get(`/pay/${id}`)).text);
    expect(words).toContain('This payment has failed.');
    expect(words).toContain('CVV error');
    expect(words).not.toContain('Back to the shop');
  });

  it('is captured after it was authorised', async () => {
    const { sandbox, create, get, post } = open();
    const id = await create();
    await post(`/pay/${id}`, { act: 'authorize' });
    expect((await get(`/pay/${id}`)).text).not.toContain('Authorise first');
    await post(`/pay/${id}`, { act: 'pay' });
    expect(sandbox.payments[0]).toMatchObject({ paymentStatus: 'COMPLETED' });
  });

  it('of a payment that is final moves nothing any more', async () => {
    const { sandbox, create, post } = open();
    const id = await create();
    await post(`/pay/${id}`, { act: 'pay' });
    // A second click goes where the first one led.
    expect(await post(`/pay/${id}`, { act: 'decline', reason: 'cvv' })).toMatchObject({
      status: 303,
      location: returnUrl,
    });
    expect(sandbox.payments[0]).toMatchObject({ paymentStatus: 'COMPLETED' });
  });

  it.each([
    ['https://shop.example/danke/✓?q=zurück', 'https://shop.example/danke/%E2%9C%93?q=zur%C3%BCck'],
    ['myapp://paid', 'myapp://paid'],
  ])('returns to %s', async (returnUrl, location) => {
    const { create, get, post } = open();
    const id = await create({ returnUrl });
    expect(await post(`/pay/${id}`, { act: 'pay' })).toMatchObject({ status: 303, location });
    expect((await get(`/pay/${id}`)).text).toContain(`href="${location.replaceAll('&', '&amp;')}"`);
  });

  it('of a withdrawal there is none', async () => {
    const { create, get, post } = open();
    const id = await create({ paymentType: 'WITHDRAWAL', paymentMethod: 'PAYID' });
    expect([(await get(`/pay/${id}`)).status, (await post(`/pay/${id}`, { act: 'pay' })).status]).toEqual([404, 404]);
  });

  it('is missed by name, and takes no act but its own', async () => {
    const { create, get, post } = open();
    expect((await get(`/pay/${OTHER_ID}`)).status).toBe(404);
    expect((await post(`/pay/${OTHER_ID}`, { act: 'pay' })).status).toBe(404);
    expect((await post(`/pay/${await create()}`, { act: 'refund' })).status).toBe(422);
    expect((await get('/nowhere')).status).toBe(404);
  });
});

describe('the PayID page', () => {
  it('shows the instructions that the create has answered', async () => {
    const { gateway, get, post, sandbox } = open();
    const { payment, nextAction } = await gateway.createDeposit({
      ...CARD,
      paymentMethod: 'PAYID',
      currency: 'AUD',
    });
    if (nextAction.type !== 'transfer') throw new Error('no transfer');
    const words = wordsOf((await get(`/pay/${payment.id}`)).text);
    const { number, full_holder_name, payment_description, amount } = nextAction.transfer;
    for (const word of [number, full_holder_name, payment_description, `${amount} AUD`]) expect(words).toContain(word);
    await post(`/pay/${payment.id}`, { act: 'pay' });
    expect(sandbox.payments[0]).toMatchObject({ paymentStatus: 'COMPLETED' });
  });

  it('is where the customer goes on a terminal that redirects', async () => {
    const { gateway } = open({ payid: 'redirect' });
    const { payment, nextAction } = await gateway.createDeposit({ ...CARD, paymentMethod: 'PAYID' });
    expect(nextAction).toEqual({ type: 'redirect', redirectUrl: `${HERE}/pay/${payment.id}` });
  });
});

describe('the on-ramp widget', () => {
  it('of USER_CHOICE lets the customer choose, and settles in crypto', async () => {
    const { sandbox, create, get, post } = open();
    const id = await create({ paymentMethod: 'USER_CHOICE', amount: 540, currency: 'BRL' });
    const { text } = await get(`/pay/${id}`);
    expect(text.match(/type="radio"/g)).toHaveLength(13);
    expect(wordsOf(text)).toContain('498.84526559 USDT');
    await post(`/pay/${id}`, { act: 'pay', method: 'ONRAMP_PIX' });
    expect(sandbox.payments[0]).toMatchObject({
      paymentMethod: 'ONRAMP_PIX',
      paymentStatus: 'COMPLETED',
      settled_crypto_amount: 498.84526559,
    });
  });

  it('of a pinned method offers no other', async () => {
    const { sandbox, create, get, post } = open();
    const id = await create({ paymentMethod: 'ONRAMP_SPEI', currency: 'MXN' });
    expect((await get(`/pay/${id}`)).text).not.toContain('type="radio"');
    await post(`/pay/${id}`, { act: 'pay', method: 'ONRAMP_PIX' });
    expect(sandbox.payments[0]).toMatchObject({ paymentMethod: 'ONRAMP_SPEI' });
  });

  it('keeps the choice of a customer who declines, and none after the end', async () => {
    const { sandbox, create, post } = open();
    const id = await create({ paymentMethod: 'USER_CHOICE' });
    await post(`/pay/${id}`, { act: 'bogus', method: 'ONRAMP_PIX' });
    expect(sandbox.payments[0]).toMatchObject({ paymentMethod: 'USER_CHOICE' });
    await post(`/pay/${id}`, { act: 'decline', reason: 'cvv', method: 'ONRAMP_SPEI' });
    await post(`/pay/${id}`, { act: 'pay', method: 'ONRAMP_PIX' });
    expect(sandbox.payments[0]).toMatchObject({ paymentMethod: 'ONRAMP_SPEI', paymentStatus: 'FAILED' });
  });

  it('takes no choice that it does not offer', async () => {
    const { sandbox, create, post } = open();
    await post(`/pay/${await create({ paymentMethod: 'USER_CHOICE' })}`, { act: 'pay', method: 'SEPA' });
    expect(sandbox.payments[0]).toMatchObject({ paymentMethod: 'USER_CHOICE', paymentStatus: 'COMPLETED' });
  });
});

describe('the dashboard', () => {
  it('lists payments, calls with what was wrong, callbacks, and the environment to paste', async () => {
    const { sandbox, create, get } = open();
    expect(wordsOf((await get('/')).text)).toContain('No payment yet.');
    const id = await create({ reference: 'order-7' });
    await sandbox.complete(id);
    await sandbox.idle();
    const stranger = new GatewayClient({ ...sandbox.clientOptions, signKey: 'another' });
    await stranger.createDeposit(CARD).catch(() => {});
    const words = wordsOf((await get('/')).text);
    for (const word of [
      'order-7',
      'COMPLETED',
      'The signature does not match',
      CARD.webhookUrl,
      `PAYMENT_GATEWAY_URL=${HERE}`,
    ]) {
      expect(words).toContain(word);
    }
    expect(words).not.toMatch(/Bearer \w/);
  });

  it.each([
    [{ move: 'complete' }, { paymentStatus: 'COMPLETED' }],
    [{ move: 'authorize' }, { paymentStatus: 'AUTHORIZED' }],
    [{ move: 'cancel' }, { paymentStatus: 'CANCELED' }],
    [
      { move: 'fail', reason: 'cvv' },
      { paymentStatus: 'FAILED', errorMessage: 'CVV error' },
    ],
    [{ move: 'fail', reason: '' }, { paymentStatus: 'FAILED' }],
  ])('moves by %j to %j', async (form, record) => {
    const { sandbox, create, post } = open();
    const id = await create();
    expect(await post(`/payments/${id}`, form as never)).toMatchObject({
      status: 303,
      location: `/payments/${id}`,
    });
    expect(sandbox.payments[0]).toMatchObject(record);
    expect(sandbox.payments[0]?.errorMessage).toBe((record as { errorMessage?: string }).errorMessage);
  });

  it('moves what is final by force alone', async () => {
    const { sandbox, create, post } = open();
    const id = await create();
    await post(`/payments/${id}`, { move: 'cancel' });
    expect((await post(`/payments/${id}`, { move: 'complete' })).status).toBe(409);
    await post(`/payments/${id}`, { move: 'complete', force: 'yes' });
    expect(sandbox.payments[0]).toMatchObject({ paymentStatus: 'COMPLETED' });
    expect((await post(`/payments/${id}`, { move: 'explode' })).status).toBe(422);
  });

  it('shows the raw request, with its key masked, its answer, the record and the callbacks', async () => {
    const { sandbox, create, get } = open();
    const id = await create({ reference: 'order-8' });
    await sandbox.authorize(id);
    await sandbox.idle();
    const words = wordsOf((await get(`/payments/${id}`)).text).replaceAll('&quot;', '"');
    expect(words).toContain('authorization: Bearer ••••••••');
    expect(words).toContain('"paymentType":"DEPOSIT"');
    expect(words).toMatch(/Answer 201 \{ "result"/);
    expect(words).toContain(`"id": "${id}"`);
    expect(words).toContain('Body of callback 1');
    expect(words).not.toContain('sandbox-api-key');
  });

  it('redelivers a callback', async () => {
    const { sandbox, create, post } = open();
    await sandbox.complete(await create());
    await sandbox.idle();
    expect((await post('/deliveries/1')).status).toBe(303);
    expect(sandbox.deliveries).toHaveLength(2);
    expect((await post('/deliveries/9')).status).toBe(404);
  });

  it('arms and disarms faults, and resets', async () => {
    const { sandbox, create, get, post } = open();
    await create();
    await post('/faults', { fault: 'slow', on: 'lookup', ms: '5' });
    await post('/faults', { fault: 'callback-lose', on: 'create' });
    expect(sandbox.faults.armed).toEqual([
      { id: 1, fault: 'slow', on: 'lookup', ms: 5, count: 1 },
      { id: 2, fault: 'callback-lose', on: 'callback', count: 1 },
    ]);
    expect(wordsOf((await get('/')).text)).toContain('slow for the next lookup');
    expect(await post('/faults', { fault: 'explode' })).toMatchObject({
      status: 422,
      text: expect.stringContaining('No fault is called "explode"'),
    });
    await post('/faults', { act: 'clear' });
    expect(sandbox.faults.armed).toEqual([]);
    await post('/reset');
    expect(sandbox.payments).toEqual([]);
  });

  it('shows fifty payments at a time, the newest first', async () => {
    const { create, get } = open();
    for (let count = 1; count <= 120; count++) await create({ reference: `order-${count}.` });
    const referencesOf = async (page: string) =>
      [...(await get(`/?page=${page}`)).text.matchAll(/<th scope="row"><a[^>]*>(order-\d+)/g)].map(([, name]) => name);
    expect((await referencesOf('1'))[0]).toBe('order-120');
    expect(await referencesOf('2')).toHaveLength(50);
    expect((await referencesOf('3')).at(-1)).toBe('order-1');
    expect(await referencesOf('99')).toEqual(await referencesOf('3'));
    expect(await referencesOf('x')).toEqual(await referencesOf('1'));
  });

  it('hears of everything that happens, until it goes away', async () => {
    const { sandbox, create } = open();
    const response = await sandbox.fetch(`${HERE}/live`);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const next = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await next()).toBe(': hello\n\n');
    const id = await create();
    expect(await next()).toBe('data: \n\n');
    await sandbox.complete(id);
    expect(await next()).toBe(`data: ${id} is COMPLETED\n\n`);
    expect(await next()).toBe('data: \n\n');
    await reader.cancel();
    await sandbox.cancel(id, { force: true });
  });
});

describe('what merchants sent', () => {
  const ATTACK = `"'><script>alert(1)</script><img src=x onerror=alert(1)>&lt;`;
  const url = `https://shop.example/${encodeURIComponent('x')}?q="'><script>alert(1)</script>`;
  const pages = async (request: object) => {
    const { sandbox, create, get, post } = open();
    const id = await create(request);
    const seen = [(await get(`/pay/${id}`)).text];
    await post(`/pay/${id}`, { act: 'decline', reason: 'cvv' });
    await sandbox.fail(id, { reason: ATTACK, force: true });
    await sandbox.idle();
    for (const path of ['/', `/payments/${id}`, `/pay/${id}`]) seen.push((await get(path)).text);
    return seen;
  };

  it.each([
    ['reference', ATTACK],
    ['description', ATTACK],
    ['externalApiId', ATTACK],
    ['webhookUrl', url.replaceAll(' ', '')],
    ['returnUrl', url.replaceAll(' ', '')],
    ['customer', { firstName: ATTACK, email: ATTACK }],
    ['billingAddress', { city: ATTACK, countryCode: 'US' }],
    ['additionalParameters', { destination_wallet: ATTACK, [ATTACK]: ATTACK }],
    ['browser', { userAgent: ATTACK }],
  ])('in %s stays text on every page', async (field, value) => {
    for (const paymentMethod of ['CARD', 'PAYID', 'USER_CHOICE']) {
      for (const page of await pages({ paymentMethod, [field]: value })) {
        expect(page).not.toMatch(/<script>alert|<img/);
      }
    }
  });

  it('in a path, a page or an id stays text', async () => {
    const { get, sandbox } = open();
    const raw = await sandbox.fetch(`${HERE}/pay/<script>alert(1)</script>`, {
      headers: { accept: 'text/html' },
    });
    expect(await raw.text()).not.toContain('<script>alert');
    await sandbox.fetch(`${HERE}/api/v1/payments/<script>alert(1)</script>`);
    expect((await get('/')).text).not.toContain('<script>alert');
  });

  it('could not run if it did not: no script but ours, and nothing from outside', async () => {
    const { create, get } = open();
    const id = await create();
    for (const path of ['/', `/pay/${id}`, `/payments/${id}`]) {
      const { headers, text } = await get(path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).not.toContain('unsafe');
      expect(text).not.toMatch(/<[^>]* (style|on\w+)=/);
      const fetched = [...text.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]*)"/g)].map(
        ([, address]) => address,
      );
      expect(fetched.filter(address => !address?.startsWith('/') && address !== 'data:,')).toEqual([]);
    }
  });
});

describe('a page from elsewhere', () => {
  it.each([
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'same-origin', origin: HERE }, 303],
    [{ origin: 'http://sandbox.localhost', host: 'sandbox.localhost' }, 303],
    [{}, 303],
  ])('with %j is answered %d', async (headers, status) => {
    const { sandbox, create, post } = open();
    const id = await create();
    expect((await post(`/payments/${id}`, { move: 'complete' }, headers as never)).status).toBe(status);
    expect(sandbox.payments[0]?.paymentStatus).toBe(status === 403 ? 'PENDING' : 'COMPLETED');
  });
});
