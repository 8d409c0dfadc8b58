// The sandbox's own API, as a test in any language drives it: JSON over HTTP, and a description of itself.
import { createHmac } from 'node:crypto';
import { GatewayClient } from 'payment-gateway-sdk';
import { Sandbox, type SandboxEvent, type SandboxOptions } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it, vi } from 'vitest';
import { CARD, errorOf } from '../support/fixtures.ts';
import { fakeTimers } from '../support/passing-time.ts';

const HERE = 'http://sandbox.localhost';
/** 2026-01-02 03:04:05 UTC, by `date -u -d '2026-01-02 03:04:05' +%s`. */
const NOW = 1_767_323_045_000;

function open(options: SandboxOptions = {}) {
  const sandbox = new Sandbox({ fetch: async () => new Response('thanks'), now: () => NOW, ...options });
  const gateway = new GatewayClient(sandbox.clientOptions);
  const create = async (request: object = {}) => (await gateway.createDeposit({ ...CARD, ...request })).payment.id;
  const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const response = await sandbox.fetch(`${HERE}/_sandbox${path}`, init);
    const text = await response.text();
    return { status: response.status, json: text && JSON.parse(text) };
  };
  const get = (path: string) => ask('GET', path);
  return { sandbox, gateway, create, ask, get };
}

describe('payments', () => {
  it('are listed, the newest first, and found by what they are', async () => {
    const { create, get } = open();
    await create({ reference: 'order-1', amount: 10, currency: 'EUR' });
    await create({ reference: 'order-2', amount: 20, currency: 'PLN', description: 'Two TICKETS' });
    await create({ reference: 'order-3', amount: 30, paymentMethod: 'BLIK', customer: { email: 'ada@example.com' } });
    const found = async (query: string) =>
      (await get(`/payments${query}`)).json.payments.map(({ reference }: { reference: string }) => reference);
    expect(await found('')).toEqual(['order-3', 'order-2', 'order-1']);
    expect(await found('?search=tickets')).toEqual(['order-2']);
    expect(await found('?search=ada@')).toEqual(['order-3']);
    expect(await found('?search=10 eur')).toEqual(['order-1']);
    expect(await found('?search=blik')).toEqual(['order-3']);
    expect(await found('?reference=order-1')).toEqual(['order-1']);
    expect(await found('?paymentStatus=COMPLETED')).toEqual([]);
    expect(await found('?limit=1&offset=1')).toEqual(['order-2']);
    expect((await get('/payments?limit=1')).json).toMatchObject({ total: 3 });
  });

  it('tell what happened to them, in the order of their times', async () => {
    const statuses = [503, 200];
    const { sandbox, gateway, create, get } = open({
      fetch: async () => new Response('busy', { status: statuses.shift() ?? 200 }),
      callbackRetries: [5],
    });
    const id = await create({ reference: 'order-1' });
    await gateway.getPayment(id);
    sandbox.faults.next('callback-delay', { ms: 5 });
    await sandbox.fail(id, { code: 4001 });
    await sandbox.idle();
    const { payment, request, callbackUrl, timeline } = (await get(`/payments/${id}`)).json;
    expect([payment.id, request.reference, callbackUrl]).toEqual([id, 'order-1', CARD.webhookUrl]);
    expect(timeline).toMatchObject([
      { type: 'request', method: 'POST', status: 201, at: NOW, callId: 1 },
      { type: 'request', method: 'GET', status: 200, callId: 2 },
      { type: 'move', from: 'PENDING', paymentStatus: 'FAILED', errorMessage: 'CVV error' },
      { type: 'callback-waits', fault: 'callback-delay', due: NOW + 5 },
      { type: 'callback', delivery: { id: 1, status: 503, answer: 'busy', fault: 'callback-delay' } },
      { type: 'callback-waits', due: NOW + 5 },
      { type: 'callback', delivery: { id: 2, status: 200, repeats: 1 } },
    ]);
    expect(sandbox.deliveries[1]).not.toHaveProperty('fault');
    expect(sandbox.timeline(id)).toEqual(sandbox.timeline(id.toUpperCase()));
  });

  it.each([
    [{}, 'https://shop.example/c?a=1#x', undefined],
    [{ forwardTo: 'http://127.0.0.1:1/all' }, 'https://shop.example/c', 'http://127.0.0.1:1/all'],
    [{ forwardTo: 'http://127.0.0.1:1/all' }, 'https://shop.example/c?a=1', 'http://127.0.0.1:1/all?a=1'],
    [{ forwardTo: 'http://127.0.0.1:1/all?b' }, 'https://shop.example/c?a=1', 'http://127.0.0.1:1/all?b&a=1'],
  ])('under %j, with the address %s, name where their callbacks are posted', async (options, webhookUrl, postedTo) => {
    const { sandbox, create, get } = open(options);
    const id = await create({ webhookUrl });
    const { json } = await get(`/payments/${id}`);
    expect([json.callbackUrl, json.postedTo]).toEqual([webhookUrl, postedTo]);
    const page = await (await sandbox.fetch(`${HERE}/payments/${id}`)).text();
    const facts = page
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .replaceAll('&amp;', '&');
    expect(facts).toContain(`Callbacks go to ${postedTo ?? webhookUrl}`);
    expect(facts.includes(`Instead of ${webhookUrl}`)).toBe(postedTo !== undefined);
    await sandbox.complete(id);
    await sandbox.idle();
    expect(sandbox.deliveries[0]?.url).toBe(postedTo ?? webhookUrl);
  });
});

it('a timeline shows a callback where its post began', async () => {
  const { sandbox, gateway, create } = open({
    now: Date.now,
    fetch: async () => {
      await new Promise(resolve => setTimeout(resolve, 2));
      await gateway.getPayment(sandbox.payments[0]?.id ?? '');
      await new Promise(resolve => setTimeout(resolve, 2));
      return new Response();
    },
  });
  const id = await create();
  await sandbox.complete(id);
  await sandbox.idle();
  const story = sandbox.timeline(id).map(event => ('method' in event ? event.method : event.type));
  expect(story).toEqual(['POST', 'move', 'callback', 'GET']);
});

describe('waiting', () => {
  it('ends as soon as a payment is there, in its state, and its callback answered', async () => {
    const { sandbox, create, get } = open();
    const there = get('/wait?reference=order-1');
    const paid = get('/wait?reference=order-1&paymentStatus=COMPLETED&isAnswered=true');
    const id = await create({ reference: 'order-1' });
    expect((await there).json).toMatchObject({ id, paymentStatus: 'PENDING' });
    await sandbox.complete(id);
    expect((await paid).json).toMatchObject({ id, paymentStatus: 'COMPLETED' });
    expect(sandbox.deliveries).toMatchObject([{ status: 200 }]);
    expect((await get(`/wait?paymentId=${id}`)).json).toMatchObject({ id });
  });

  it('ends in time with what there is instead', async () => {
    const { create, get } = open();
    const id = await create();
    expect(await get('/wait?reference=order-2&timeout=1')).toEqual({
      status: 408,
      json: { code: 'timeout', message: 'Not reached within 1 ms: the sandbox has no such payment.' },
    });
    for (const timeout of ['0', '-1', '600001', '11m', 'soon']) {
      expect((await get(`/wait?paymentId=${id}&timeout=${timeout}`)).json).toMatchObject({
        code: 'invalid',
        message: expect.stringMatching(/^timeout must be (above 0, and at most 10m|a time such as)/),
      });
    }
  });

  it('is not satisfied by the answer to a forged callback, nor to that of another state', async () => {
    const { sandbox, create } = open({
      fetch: async (_, init) => {
        const { paymentStatus, amount } = JSON.parse(String(init.body));
        return new Response('', { status: paymentStatus === 'COMPLETED' && amount === 25.5 ? 500 : 200 });
      },
    });
    const id = await create({ reference: 'order-1' });
    sandbox.faults.next('callback-forge');
    await sandbox.authorize(id);
    await sandbox.complete(id);
    await sandbox.idle();
    expect(sandbox.deliveries.map(({ status }) => status)).toEqual([200, 200, 500]);
    const wait = sandbox.waitFor({ paymentId: id, isAnswered: true, timeout: 5 });
    expect(await errorOf(wait)).toMatchObject({ name: 'SandboxError', code: 'timeout' });
  });

  it('for all callbacks answers when none is under way, or in time', async () => {
    const { sandbox, create, get } = open();
    expect((await get('/idle')).json).toEqual({ deliveries: 0 });
    sandbox.faults.next('callback-delay', { ms: 60_000 });
    await sandbox.complete(await create());
    expect((await get('/idle?timeout=5')).status).toBe(408);
    const [{ id } = { id: '' }] = sandbox.payments;
    expect((await get(`/wait?paymentId=${id}&isAnswered=true&timeout=5ms`)).json.message).toContain(
      'its callback waits until 2026-01-02T03:05:05.000Z.',
    );
    sandbox.clock.advance(60_000);
    expect((await get('/idle')).json).toEqual({ deliveries: 1 });
  });
});

describe('calls', () => {
  const body = JSON.stringify({ paymentType: 'DEPOSIT', ...CARD, amount: 25.5, description: 'ł' });
  const wrong = createHmac('sha256', 'sandbox-sign-key')
    .update(JSON.stringify(JSON.parse(body), null, 2))
    .digest('hex');
  const digest = createHmac('sha256', 'sandbox-sign-key').update(body).digest();
  const expected = { hex: digest.toString('hex'), base64: digest.toString('base64') };

  it('that were refused show the exact bytes, what was expected of them, and what was wrong', async () => {
    const { sandbox, get } = open();
    const headers = { authorization: 'Bearer sandbox-api-key', signature: wrong, cookie: 'a=secret', 'x-trace': '7' };
    await sandbox.fetch(`${HERE}/api/v1/payments?debug=1`, { method: 'POST', headers, body });
    const call = (await get('/calls/1')).json;
    expect(call).toMatchObject({
      id: 1,
      at: NOW,
      method: 'POST',
      path: '/api/v1/payments?debug=1',
      body,
      bodyBase64: Buffer.from(body).toString('base64'),
      bodyLength: Buffer.byteLength(body),
      answer: { status: 401, isCut: false },
      message: expect.stringContaining('serialised in another way'),
      signature: { given: wrong, expected, encoding: 'hex' },
    });
    expect(call.headers).toContainEqual(['x-trace', '7']);
    expect(JSON.stringify(call)).not.toMatch(/sandbox-api-key|secret/);
    expect((await get('/calls')).json).toMatchObject({ calls: [{ id: 1 }], total: 1 });
  });

  it('are the latest thousand, of which lookups make way first', { tags: 'long' }, async () => {
    const { sandbox, gateway, create, get } = open();
    const id = await create();
    for (let count = 0; count < 1_000; count++) await gateway.getPayment(id);
    const { calls, total } = (await get('/calls?limit=1000')).json;
    expect([total, calls.at(0).id, calls.at(-2).id, calls.at(-1).id]).toEqual([1_000, 1_001, 3, 1]);
    expect((await get('/calls/2')).json).toMatchObject({ code: 'unknown_call' });
    expect((await get(`/calls?paymentId=${id}&limit=1`)).json.total).toBe(1_000);
    expect([0, 1, -1].map(at => sandbox.save().calls.at(at)?.id)).toEqual([1, 3, 1_001]);
    expect(sandbox.timeline(id)).toHaveLength(1_001);
  });
});

it('callbacks are repeated as the schedule says, until they are answered with 2xx', { tags: 'long' }, async () => {
  const statuses = [500, 300, 299, 200];
  const { sandbox, create } = open({
    fetch: async () => new Response(null, { status: statuses.shift() ?? 200 }),
    callbackRetries: [60_000, 3_600_000, 3_600_000],
  });
  await sandbox.complete(await create());
  const seen = () => sandbox.deliveries.flatMap(({ status, at }) => (status ? [[status, at - NOW]] : []));
  await expect.poll(seen).toEqual([[500, 0]]);
  sandbox.clock.advance(59_000);
  sandbox.clock.advance(1_000);
  await expect.poll(seen).toHaveLength(2);
  sandbox.clock.advance(3_600_000);
  await expect.poll(seen).toHaveLength(3);
  sandbox.clock.advance(3_600_000);
  await sandbox.idle();
  expect(seen()).toEqual([
    [500, 0],
    [300, 60_000],
    [299, 3_660_000],
  ]);
  expect(sandbox.deliveries.map(({ repeats }) => repeats)).toEqual([undefined, 1, 2]);
});

describe('the clock', () => {
  it('dates what happens, and is moved forward, to a time, and right again', async () => {
    const { ask, get, create, sandbox } = open();
    expect((await get('/clock')).json).toEqual({ now: NOW, iso: '2026-01-02T03:04:05.000Z', offset: 0 });
    expect((await ask('PUT', '/clock', { advance: '1d' })).json).toMatchObject({
      iso: '2026-01-03T03:04:05.000Z',
    });
    await create();
    expect(sandbox.payments[0]?.created.date).toBe('2026-01-03 03:04:05.000000');
    expect((await ask('PUT', '/clock', { at: '2026-01-02T03:04:05Z' })).json).toMatchObject({ offset: 0 });
    expect((await ask('PUT', '/clock', { at: 0 })).json).toMatchObject({ iso: '1970-01-01T00:00:00.000Z' });
    for (const body of [{ advance: -1 }, { at: 'now' }, {}, { at: 1e15 }, { advance: 1, at: 1 }]) {
      expect((await ask('PUT', '/clock', body)).status).toBe(422);
    }
    // As PHP writes an empty map.
    await ask('POST', '/reset', []);
    expect((await get('/clock')).json).toMatchObject({ offset: 0 });
  });

  it('wakes what waits for its time, which comes later when it is set back', async () => {
    const moves: unknown[] = [];
    const onEvent = (event: SandboxEvent) => void (event.type === 'clock' && moves.push(event.offset));
    const { sandbox, create } = open({ onEvent });
    sandbox.faults.next('callback-delay', { ms: 3_600_000 });
    await sandbox.complete(await create());
    sandbox.clock.set(NOW - 60_000);
    sandbox.clock.advance(3_600_000);
    await expect(sandbox.waitFor({ reference: 'none', timeout: 1 })).rejects.toThrow();
    expect(sandbox.deliveries).toEqual([]);
    sandbox.clock.advance(60_000);
    await sandbox.idle();
    expect(sandbox.deliveries).toMatchObject([{ status: 200, at: NOW + 3_600_000 }]);
    expect(moves).toEqual([-60_000, 3_540_000, 3_600_000]);
  });
});

describe('memory', () => {
  it('is bounded: the oldest final payments make way', async () => {
    const { sandbox, create, get } = open({ maxPayments: 3 });
    const [open1, final1, final2] = [await create(), await create(), await create()];
    await sandbox.complete(final2);
    await sandbox.complete(final1);
    await sandbox.idle();
    const [open2, open3] = [await create(), await create()];
    expect(sandbox.payments.map(({ id }) => id)).toEqual([open1, open2, open3]);
    expect((await get('/payments')).json).toMatchObject({ total: 3 });
    expect(sandbox.deliveries).toHaveLength(2);
    // Those that can still move stay, also above the limit.
    await create();
    expect(sandbox.payments).toHaveLength(4);
  });

  it('keeps a payment that was moved out of a final state, and posts the callback of one that made way', async () => {
    const { sandbox, create } = open({ maxPayments: 1 });
    const moved = await create();
    await sandbox.complete(moved);
    sandbox.faults.next('callback-delay', { ms: 60_000, count: 2 });
    await sandbox.authorize(moved, { force: true });
    const gone = await create();
    await sandbox.complete(gone);
    await create();
    expect(sandbox.payments.map(({ id }) => id)).toEqual([moved, expect.not.stringContaining(gone)]);
    sandbox.clock.advance(60_000);
    await sandbox.idle();
    expect(sandbox.deliveries.map(({ paymentId }) => paymentId)).toEqual([moved, moved, gone]);
    const saved = sandbox.save();
    const next = open({ maxPayments: 1, saved });
    await next.sandbox.complete(moved);
    const again = open({ maxPayments: 1, saved: next.sandbox.save() });
    await again.create();
    expect(again.sandbox.payments.map(({ id }) => id)).not.toContain(moved);
  });

  it('keeps a delivery that is under way', async () => {
    const answers: ((response: Response) => void)[] = [];
    const { sandbox, create } = open({ maxDeliveries: 1, fetch: () => new Promise(resolve => answers.push(resolve)) });
    for (const id of [await create(), await create()]) await sandbox.complete(id);
    expect(sandbox.deliveries).toHaveLength(2);
    for (const answer of answers) answer(new Response());
    await sandbox.idle();
    await sandbox.complete(await create());
    expect(sandbox.deliveries.map(({ id }) => id)).toEqual([3]);
    sandbox.reset();
  });
});

describe('a sandbox that was saved', () => {
  it('goes on where it was: payments, timelines, calls, faults, its clock, and what waits', async () => {
    const first = open({ seed: 'a' });
    const id = await first.create({ reference: 'order-1' });
    await first.sandbox.authorize(id);
    await first.sandbox.idle();
    first.sandbox.clock.advance(1_000);
    first.sandbox.faults.next('callback-delay', { ms: 60_000 });
    first.sandbox.faults.next('reject-422', { count: 2 });
    await first.sandbox.complete(id);
    const saved = JSON.parse(JSON.stringify(first.sandbox.save()));
    const second = open({ seed: 'a', saved });
    expect(second.sandbox.payments).toEqual(first.sandbox.payments);
    expect(second.sandbox.timeline(id)).toEqual(JSON.parse(JSON.stringify(first.sandbox.timeline(id))));
    expect(second.sandbox.calls).toEqual(first.sandbox.calls);
    expect(second.sandbox.faults.armed).toEqual(first.sandbox.faults.armed);
    expect(second.sandbox.clock.now()).toBe(NOW + 1_000);
    expect(second.sandbox.deliveries).toHaveLength(1);
    second.sandbox.clock.advance(60_000);
    await second.sandbox.idle();
    expect(second.sandbox.deliveries.at(-1)).toMatchObject({ id: 2, paymentStatus: 'COMPLETED', status: 200 });
    expect(second.sandbox.faults.next('drop')).toMatchObject({ id: 3 });
    second.sandbox.faults.clear();
    expect(await second.create()).not.toBe(id);
    expect(second.sandbox.calls.at(-1)).toMatchObject({ id: 2 });
    first.sandbox.reset();
  });

  it('posts again what was under way', async () => {
    const first = open({ fetch: () => new Promise(() => {}) });
    await first.sandbox.complete(await first.create());
    const saved = JSON.parse(JSON.stringify(first.sandbox.save()));
    const second = open({ saved });
    await second.sandbox.idle();
    expect(second.sandbox.deliveries).toMatchObject([{ id: 1, status: 200 }]);
    first.sandbox.reset();
  });

  it('holds a callback back that was held back, tells of nothing twice, and posts nothing again that has ended', async () => {
    const first = open({
      fetch: async () => {
        throw new Error('connect ECONNREFUSED');
      },
    });
    const [failed, held] = [await first.create(), await first.create()];
    await first.sandbox.complete(failed);
    await first.sandbox.idle();
    first.sandbox.faults.next('callback-reorder');
    await first.sandbox.authorize(held);
    const saved = JSON.parse(JSON.stringify(first.sandbox.save()));
    const second = open({ saved });
    fakeTimers();
    vi.advanceTimersByTime(1_000_000);
    expect(vi.getTimerCount()).toBe(0);
    await second.sandbox.idle();
    expect(second.sandbox.deliveries).toEqual(first.sandbox.deliveries);
    expect(second.sandbox.timeline(held).map(({ type }) => type)).toEqual(['request', 'move', 'callback-waits']);
    await second.sandbox.complete(held);
    await second.sandbox.idle();
    expect(second.sandbox.deliveries.map(({ paymentStatus }) => paymentStatus)).toEqual([
      ...['COMPLETED', 'COMPLETED', 'AUTHORIZED'],
    ]);
  });

  it.each([[{}], [{ version: 2 }], [null]])('as %j is refused', saved => {
    expect(() => open({ saved: saved as never })).toThrow('saved must be what sandbox.save() gave');
  });

  it('in parts is refused as damaged', () => {
    const saved = { ...new Sandbox().save(), payments: [{}] };
    expect(() => open({ saved: saved as never })).toThrow('saved is damaged');
  });
});

it('a fault of its own is no refusal', async () => {
  let isBroken = false;
  const now = () => {
    if (isBroken) throw new Error('no time');
    return NOW;
  };
  const { sandbox } = open({ now });
  isBroken = true;
  await expect(sandbox.fetch(`${HERE}/_sandbox/clock`)).rejects.toThrow('no time');
});

it('an answer takes longer by the latency', async () => {
  const { gateway, create } = open({ latency: 40 });
  const timers = vi.spyOn(globalThis, 'setTimeout');
  await gateway.getPayment(await create());
  expect(timers.mock.calls.filter(([, ms]) => ms === 40)).toHaveLength(2);
  timers.mockRestore();
});

describe('a page from elsewhere', () => {
  it.each([[{ 'sec-fetch-site': 'cross-site' }], [{ origin: 'https://evil.example' }], [{ origin: 'null' }]])(
    'with %j uses nothing',
    async headers => {
      const { ask, create, sandbox } = open();
      await create();
      expect(await ask('POST', '/reset', undefined, headers)).toMatchObject({ status: 403 });
      expect(await ask('GET', '/info', undefined, headers)).toMatchObject({ status: 403 });
      expect(sandbox.payments).toHaveLength(1);
    },
  );
});

describe('the description', () => {
  it('leads on from an address that is none', async () => {
    const { get, ask } = open();
    expect(await get('/nothing')).toMatchObject({
      status: 404,
      json: { message: expect.stringContaining('openapi.json') },
    });
    expect(await ask('DELETE', '/reset')).toMatchObject({
      status: 405,
      json: { message: 'This address takes POST, and not DELETE.' },
    });
    const other = await open().sandbox.fetch(`${HERE}/_sandbox/faults/1`, { method: 'PUT' });
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'DELETE']);
    expect((await ask('POST', '/faults', undefined)).json).toMatchObject({ code: 'invalid' });
    const bad = await open().sandbox.fetch(`${HERE}/_sandbox/faults`, { method: 'POST', body: '{' });
    expect([bad.status, await bad.json()]).toEqual([422, { code: 'invalid', message: 'The body is not JSON.' }]);
  });

  it('is OpenAPI, and another address says how a client is set up', async () => {
    const { get } = open();
    expect((await get('/openapi.json')).json).toMatchObject({ openapi: '3.1.0' });
    expect((await get('/info')).json).toMatchObject({
      baseUrl: HERE,
      apiKey: 'sandbox-api-key',
      environment: expect.arrayContaining([`PAYMENT_GATEWAY_URL=${HERE}`]),
    });
  });
});
