import { createHash, createHmac } from 'node:crypto';
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox, SandboxError } from 'payment-gateway-sdk/sandbox';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { CARD, errorOf, OTHER_ID } from '../support/fixtures.ts';
import { openShop, type Shop } from '../support/shop.ts';

const API = 'http://sandbox.localhost/api/v1/payments';
const body = JSON.stringify({ paymentType: 'DEPOSIT', ...CARD, amount: 25.5 });
const sign = (text: string, key = 'sandbox-sign-key', encoding: 'hex' | 'base64' = 'hex') =>
  createHmac('sha256', key).update(text).digest(encoding);

/** A create without the SDK. */
async function post(sandbox: Sandbox, text: string, headers: Record<string, string> = {}) {
  const response = await sandbox.fetch(API, {
    method: 'POST',
    headers: { authorization: 'Bearer sandbox-api-key', signature: sign(text), ...headers },
    body: text,
  });
  const raw = await response.text();
  return { status: response.status, raw, json: JSON.parse(raw) };
}

const accepting = async () => new Response();

describe('credentials', () => {
  it.each([
    [{ authorization: '' }, 'must start with "Bearer "'],
    [{ authorization: 'sandbox-api-key' }, 'must start with "Bearer "'],
    [{ authorization: 'Bearer wrong' }, 'The API key is not that of this terminal.'],
    [{ signature: sign(body).toUpperCase() }, 'in upper case'],
    [{ signature: sign(body, undefined, 'base64') }, 'is base64; this terminal expects hex'],
    [{ signature: sign(body, 'sandbox-sign-key\n') }, 'white space at its ends'],
    [{ signature: sign(JSON.stringify(JSON.parse(body), null, 2)) }, 'serialised in another way'],
    [{ signature: sign(body.replaceAll('/', '\\/')) }, 'serialised in another way'],
    [{ signature: createHmac('sha256', '').update(body).digest('hex') }, 'empty key'],
    [{ signature: '' }, 'header is empty'],
    [{ signature: `sha256=${sign(body)}` }, 'has the prefix "sha256="'],
    [{ signature: Buffer.from(sign(body)).toString('base64') }, 'base64 of the hex text'],
    [{ signature: createHash('sha256').update(body).digest('hex') }, 'SHA-256 without a key'],
    [{ signature: createHmac('sha1', 'sandbox-sign-key').update(body).digest('hex') }, 'an HMAC-SHA1.'],
    [{ signature: createHmac('sha512', 'sandbox-sign-key').update(body).digest('hex') }, 'an HMAC-SHA512.'],
    [{ signature: sign(body, 'sandbox-api-key') }, 'made with the API key'],
    [{ signature: sign('') }, 'of an empty body'],
    [{ signature: sign(body, 'other') }, 'another key, or another body'],
    [{ signature: 'é' }, 'another key, or another body'],
  ])('%j are refused with a reason, and no key', async (headers, reason) => {
    const sandbox = new Sandbox();
    const { status, raw, json } = await post(sandbox, body, headers as Record<string, string>);
    expect([status, json.message]).toEqual([401, expect.stringContaining(reason)]);
    expect(raw).not.toMatch(/sandbox-(api|sign)-key/);
    expect(raw).not.toContain(sign(body));
    expect(sandbox.payments).toEqual([]);
  });

  it('are missed by name, on creates and lookups', async () => {
    const sandbox = new Sandbox();
    const authorization = 'Bearer sandbox-api-key';
    for (const [name, headers] of [
      ['Authorization', {}],
      ['Signature', { authorization }],
    ] as [string, Record<string, string>][]) {
      const answer = await sandbox.fetch(API, { method: 'POST', body, headers });
      expect([answer.status, await answer.text()]).toEqual([401, expect.stringContaining(`${name} header is missing`)]);
    }
    expect((await sandbox.fetch(`${API}/${OTHER_ID}`)).status).toBe(401);
  });

  it('of a base64 terminal are told apart from hex', async () => {
    const sandbox = new Sandbox({ signatureEncoding: 'base64' });
    expect((await post(sandbox, body)).json.message).toContain('is hex; this terminal expects base64');
    expect((await post(sandbox, body, { signature: sign(body, undefined, 'base64') })).status).toBe(201);
  });
});

describe('requests', () => {
  it('may have any positive number as their amount', async () => {
    const { status, json } = await post(new Sandbox(), body.replace('25.5', '0.12345678901234567'));
    expect([status, json.result.amount]).toEqual([201, 0.12345678901234566]);
  });

  it("are answered in PHP's JSON: slashes and accents escaped, an empty map as a list", async () => {
    const text = JSON.stringify({ ...JSON.parse(body), description: 'a/é 😀' });
    const { raw } = await post(new Sandbox({ now: () => Date.UTC(2026, 10, 21, 8, 46, 13, 476) }), text);
    expect(raw).toContain('"description":"a\\/\\u00e9 \\ud83d\\ude00"');
    expect(raw).toContain('"billingAddress":[]');
    expect(raw).toContain('"created":{"date":"2026-11-21 08:46:13.476000","timezone_type":3,"timezone":"UTC"}');
  });
});

describe('moves', () => {
  async function start(options: object = {}) {
    const sandbox = new Sandbox({ fetch: accepting, ...options });
    const gateway = new GatewayClient(sandbox.clientOptions);
    const { payment } = await gateway.createDeposit(CARD);
    return { sandbox, gateway, id: payment.id };
  }

  it.each([
    [{ code: 4001 }, 'CVV error'],
    [{ code: '4004' }, 'Insufficient balance'],
    [{ code: 4018 }, 'Canceled by the user'],
    [{ code: 7777 }, 'Processor error 7777'],
    [{ code: 'toString' }, 'Processor error toString'],
    [{ reason: 'Payment not funded' }, 'Payment not funded'],
    [{}, undefined],
  ])('fail with %j as %j', async (reason, errorMessage) => {
    const { sandbox, gateway, id } = await start();
    await sandbox.fail(id, reason);
    expect((await gateway.getPayment(id)) as object).toMatchObject({ paymentStatus: 'FAILED' });
    expect(((await gateway.getPayment(id)) as { errorMessage?: string }).errorMessage).toBe(errorMessage);
  });

  it('leave a final state only by force', async () => {
    const { sandbox, gateway, id } = await start();
    await sandbox.complete(id);
    const error = await errorOf(sandbox.fail(id));
    expect(error).toBeInstanceOf(SandboxError);
    expect(error).toMatchObject({ code: 'final_state', message: expect.stringContaining('pass force') });
    await sandbox.fail(id, { code: 4001, force: true });
    const payment = await gateway.getPayment(id);
    expect(payment).toMatchObject({ paymentStatus: 'FAILED', errorMessage: 'CVV error' });
    expect(payment).not.toHaveProperty('crypto_tx_hash');
  });

  it('to the state a payment is in already post no second callback', async () => {
    const { sandbox, id } = await start();
    await sandbox.authorize(id);
    await sandbox.authorize(id);
    await sandbox.idle();
    expect(sandbox.deliveries).toHaveLength(1);
  });

  it('are made through the sandbox alone: what it shows is a copy', async () => {
    const { sandbox, id } = await start();
    Object.assign(sandbox.payments[0] ?? {}, { paymentStatus: 'COMPLETED' });
    expect((await sandbox.cancel(id)).paymentStatus).toBe('CANCELED');
  });

  it.each<[(sandbox: Sandbox, id: string) => Promise<unknown>, string]>([
    [(sandbox, id) => sandbox.fail(id, 4004 as never), 'takes one object of options: {'],
    [(sandbox, id) => sandbox.fail(id, null as never), 'takes one object of options: {'],
    [(sandbox, id) => sandbox.fail(id, { code: true as never }), 'sandbox.fail: code must be a number or a string.'],
    [(sandbox, id) => sandbox.fail(id, { reason: 5 as never }), 'sandbox.fail: reason must be a string.'],
    [(sandbox, id) => sandbox.cancel(id, { force: 1 as never }), 'sandbox.cancel: force must be true or false.'],
    [sandbox => sandbox.complete({ id: 1 } as never), 'pass its id or reference'],
    [sandbox => sandbox.listen(4010 as never), 'takes one object of options: {'],
    [sandbox => sandbox.listen({ port: 'x' as never }), 'must be a number'],
  ])('and calls of the wrong shape are refused with the right one: %s', async (call, told) => {
    const { sandbox, id } = await start();
    expect(await errorOf(call(sandbox, id))).toMatchObject({ message: expect.stringContaining(told) });
    expect(sandbox.payments[0]?.paymentStatus).toBe('PENDING');
  });
});

describe('callbacks', () => {
  let shop: Shop;
  const statuses: number[] = [];
  beforeAll(async () => {
    shop = await openShop(() => statuses.shift() ?? 200);
  });
  afterAll(() => shop.close());
  afterEach(() => void shop.posts.splice(0));

  async function start(urls: object = {}) {
    const sandbox = new Sandbox();
    const gateway = new GatewayClient(sandbox.clientOptions);
    const { payment } = await gateway.createDeposit({ ...CARD, webhookUrl: `${shop.url}/webhook`, ...urls });
    return { sandbox, id: payment.id };
  }

  it('go to webhookUrl if both addresses were given, else to callbackUrl', async () => {
    const both = await start({ callbackUrl: `${shop.url}/callback` });
    await both.sandbox.complete(both.id);
    await both.sandbox.idle();
    const one = await start({ webhookUrl: null, callbackUrl: `${shop.url}/callback` });
    await one.sandbox.complete(one.id);
    await one.sandbox.idle();
    expect(shop.posts.map(({ url }) => url)).toEqual(['/webhook', '/callback']);
  });

  it('of one payment arrive in order, however slow the shop is', async () => {
    const { sandbox, id } = await start();
    await sandbox.authorize(id);
    await sandbox.complete(id);
    await sandbox.idle();
    expect(shop.posts.map(post => JSON.parse(post.body).paymentStatus)).toEqual(['AUTHORIZED', 'COMPLETED']);
  });

  it('are the record itself as JSON, are logged with the answer of the shop, and never fail the move', async () => {
    statuses.push(503);
    const { sandbox, id } = await start();
    await expect(sandbox.complete(id)).resolves.toHaveProperty('paymentStatus', 'COMPLETED');
    await sandbox.idle();
    expect(shop.posts).toMatchObject([{ url: '/webhook', contentType: 'application/json' }]);
    expect(JSON.parse(shop.posts[0]?.body ?? '')).toMatchObject({ id, paymentStatus: 'COMPLETED' });
    expect(sandbox.deliveries).toEqual([
      {
        id: 1,
        at: expect.any(Number),
        paymentId: id,
        paymentStatus: 'COMPLETED',
        url: `${shop.url}/webhook`,
        body: shop.posts[0]?.body,
        status: 503,
        answer: 'thanks',
        durationMs: expect.any(Number),
      },
    ]);
  });

  it('are given up after ten seconds, even if the fetch in use heeds no signal', async () => {
    vi.useFakeTimers();
    const sandbox = new Sandbox({ fetch: () => new Promise(() => {}) });
    const { payment } = await new GatewayClient(sandbox.clientOptions).createDeposit(CARD);
    await sandbox.complete(payment.id);
    const idle = sandbox.idle();
    await vi.advanceTimersByTimeAsync(10_000);
    await idle;
    vi.useRealTimers();
    expect(sandbox.deliveries[0]).toMatchObject({ error: 'not answered within 10000 ms' });
  });
});

describe('for tests of merchants', () => {
  it('a clock that is advanced moves by that much, though time passes meanwhile', () => {
    let reading = Date.UTC(2026, 0, 2);
    const { clock } = new Sandbox({ now: () => ++reading });
    clock.advance(3_600_000);
    expect(clock.offset).toBe(3_600_000);
  });

  const create = async (sandbox: Sandbox) =>
    (await new GatewayClient(sandbox.clientOptions).createDeposit({ ...CARD, paymentMethod: 'PAYID' })).payment;

  it('a seed gives the same ids in every run, and after a reset', async () => {
    const [one, same, other] = ['a', 'a', 'b'].map(seed => new Sandbox({ seed, fetch: accepting }));
    if (!one || !same || !other) throw new Error();
    const ids = [(await create(one)).id, (await create(one)).id];
    // printf 'a 1' | sha256sum, shaped as a UUID
    expect(ids).toEqual(['042a5f2e-7634-44c8-8a75-691b6b89dfe4', 'cde73473-38c9-42ea-bbc5-42b12aa05b08']);
    expect([(await create(same)).id, (await create(same)).id]).toEqual(ids);
    expect(ids).not.toContain((await create(other)).id);
    one.reset();
    expect((await create(one)).id).toBe(ids[0]);
  });

  it('a reset forgets payments, callbacks and faults, and stops what is under way', async () => {
    const posted: string[] = [];
    const sandbox = new Sandbox({
      fetch: (url, { signal }) => {
        posted.push(url);
        return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    const [first, second] = [await create(sandbox), await create(sandbox)];
    sandbox.faults.next('callback-delay', { ms: 60_000 });
    await sandbox.complete(first.id);
    await sandbox.complete(second.id);
    sandbox.faults.next('drop');
    const idle = sandbox.idle();
    sandbox.reset();
    await idle;
    sandbox.clock.advance(60_000);
    await sandbox.idle();
    expect(posted).toHaveLength(1);
    expect([sandbox.payments, sandbox.deliveries, sandbox.faults.armed]).toEqual([[], [], []]);
    await expect(sandbox.complete(first.id)).rejects.toMatchObject({ code: 'unknown_payment' });
    expect((await create(sandbox)).paymentStatus).toBe('PENDING');
  });

  it('a reset ends a slow create, which leaves no trace in the next test', { tags: 'long' }, async () => {
    const sandbox = new Sandbox({ seed: 'slow', fetch: accepting });
    sandbox.faults.next('slow', { ms: 60_000 });
    const slow = errorOf(create(sandbox));
    await expect.poll(() => sandbox.payments.length).toBe(1);
    sandbox.reset();
    const { id } = await create(sandbox);
    expect(await slow).toMatchObject({ name: 'ConnectionError', outcome: 'unknown' });
    expect(sandbox.calls).toMatchObject([{ id: 1, paymentId: id, fault: undefined }]);
    const page = await (await sandbox.fetch(`http://sandbox.localhost/payments/${id}`)).text();
    expect(page).not.toContain('slow');
  });

  it('a fault that the sandbox does not know is refused, with the one probably meant', () => {
    const message = 'faults.next: unknown fault "slwo" (did you mean "slow"?).';
    expect(() => new Sandbox().faults.next('slwo' as never)).toThrow(message);
  });

  it('a listener hears of every call, move, callback and fault, and changes nothing by throwing', async () => {
    const heard: object[] = [];
    const onEvent = (event: object) => {
      heard.push(event);
      throw new Error('of the listener');
    };
    const sandbox = new Sandbox({ fetch: accepting, onEvent });
    const fault = 'commit-then-drop';
    sandbox.faults.next(fault);
    await errorOf(create(sandbox));
    const paymentId = sandbox.payments[0]?.id ?? '';
    await sandbox.complete(paymentId);
    await sandbox.idle();
    await sandbox.fetch(API);
    sandbox.reset();
    const gone = { method: 'POST', path: '/api/v1/payments', status: undefined, durationMs: expect.any(Number) };
    expect(heard).toMatchObject([
      { type: 'fault', fault },
      { type: 'request', callId: 1, fault, paymentId, ...gone },
      { type: 'move', paymentId, from: 'PENDING', paymentStatus: 'COMPLETED', reference: null },
      { type: 'callback', delivery: { paymentId, status: 200 } },
      { type: 'request', callId: 2, method: 'GET', status: 405, message: expect.stringContaining('no such address') },
      { type: 'fault' },
      { type: 'reset', at: expect.any(Number) },
    ]);
  });
});

it('gives the options of a client that calls it over HTTP', async () => {
  const sandbox = new Sandbox({ terminal: 'onramp', signatureEncoding: 'base64', apiKey: 'own-key' });
  const { url, close, clientOptions } = await sandbox.listen();
  expect(clientOptions).toEqual({
    baseUrl: url,
    apiKey: 'own-key',
    signKey: 'sandbox-sign-key',
    signatureEncoding: 'base64',
    terminal: 'onramp',
  });
  const gateway = new GatewayClient(clientOptions);
  const { payment } = await gateway.createDeposit({
    ...{ paymentMethod: 'ONRAMP_CARD', amount: '25.50', currency: 'EUR' },
    webhookUrl: 'https://shop.example/callbacks',
  } as const);
  expect(sandbox.payments.map(({ id }) => id)).toEqual([payment.id]);
  await close();
});

it('takes no sandbox into production', () => {
  vi.stubEnv('NODE_ENV', 'production');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(() => new Sandbox()).toThrow('NODE_ENV=production');
});
