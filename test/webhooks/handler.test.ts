import { randomUUID } from 'node:crypto';
import {
  ConfigurationError,
  createWebhookHandler,
  GatewayClient,
  type Inbox,
  isPaid,
  type Payment,
  parseWebhook,
  type WebhookGateway,
} from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { withParsedBody } from '../../src/webhooks/request-body.ts';
import { CARD, errorOf, ID, OTHER_ID, record } from '../support/fixtures.ts';
import { whileTimePasses } from '../support/passing-time.ts';
import { as, callback, completed, notFound, openShop, post, resultsOf, warningsOf } from '../support/shop-callbacks.ts';

/** With a body that a framework has parsed. */
function setUp(...given: Parameters<typeof openShop>) {
  const shop = openShop(...given);
  const reply = (request: Request, parsedBody?: object) =>
    shop.reply(parsedBody ? withParsedBody(request, { body: parsedBody }) : request);
  return { ...shop, reply };
}

describe('the webhook handler', () => {
  it('looks a callback up, lets it take effect once, and answers 200 again', async () => {
    const { reply, lookups, effects } = setUp();
    expect(await reply(post(callback))).toBe('200 handled');
    expect(await reply(post(callback))).toBe('200 handled before');
    expect(effects).toEqual([completed]);
    expect(lookups).toEqual([ID, ID]);
  });

  it("acts on the gateway's record, whatever the callback claims", async () => {
    const { reply, effects } = setUp({}, async () => ({ ...completed, paymentStatus: 'FAILED' }) as Payment);
    expect(await reply(post(callback.replace('COMPLETED', 'AUTHORIZED')))).toBe('200 handled');
    expect(effects).toMatchObject([{ paymentStatus: 'FAILED' }]);
  });

  it.each([
    ['not_json', 'nope'],
    ['not_json', ''],
    ['invalid', '{"id":7}'],
    ['invalid', 'null'],
  ])('answers 400 %s for good, without a lookup, to %j', async (code, body) => {
    const { reply, lookups, effects, errors } = setUp();
    expect(await reply(post(body))).toBe(`400 ${code}`);
    expect([lookups, effects]).toEqual([[], []]);
    expect(errors).toMatchObject([{ name: 'WebhookError', code }]);
  });

  it.each([
    ['wrapped in `result`', record('completed lookup')],
    ['with a field named `result`', `{"result":"ok",${callback.slice(1)}`],
  ])('takes a callback %s as a hint', async (_, body) => {
    const { reply, lookups } = setUp();
    expect([await reply(post(body)), lookups]).toEqual(['200 handled', [ID]]);
  });

  it('answers 400 to a post without any body', async () => {
    expect(await setUp().reply(post(null))).toBe('400 not_json');
  });

  it.each([
    ['amount', { amount: 2550 }],
    ['amount', { amount: '10,00' }],
    ['currency', { currency: 'eur' }],
    ['reference', { reference: 'order-2' }],
    ['reference', { reference: 'x'.repeat(300) }],
    ['paymentType', { paymentType: 'WITHDRAWAL' }],
  ])('warns of a claimed %s that differs from the record, and acts on the record', async (field, changes) => {
    const { reply, effects, events } = setUp();
    expect(await reply(post(JSON.stringify({ ...completed, ...changes })))).toBe('200 handled');
    expect(effects).toEqual([completed]);
    const [warning] = events.filter(({ type }) => type === 'warning');
    expect(warning).toMatchObject({ operation: 'callback', paymentId: ID, code: 'callback_mismatch' });
    expect(warning).toHaveProperty('message', expect.stringMatching(new RegExp(`: ${field}\\.$`)));
  });

  it('warns once of all that differs, however often the payment is looked up', async () => {
    const { reply, events, lookups } = setUp({}, async () => as(lookups.length < 3 ? 'PENDING' : 'COMPLETED'));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const body = JSON.stringify({ ...completed, amount: 7, currency: 'eur' });
    expect(await whileTimePasses(reply(post(body)), 250)).toBe('200 handled');
    vi.useRealTimers();
    expect(lookups).toHaveLength(3);
    expect(warningsOf(events)).toMatchObject([
      {
        message: `A callback of payment ${ID} differs from the gateway's record, which counts: amount, currency.`,
      },
    ]);
  });

  it.each([
    ['an empty reference', { reference: '' }, { reference: null }],
    ['a long reference', { reference: 'x'.repeat(300) }, { reference: 'x'.repeat(300) }],
    ['an amount of the same value', { amount: '25.50' }, {}],
    ['nulls', { amount: null, currency: null, paymentType: null, reference: null }, {}],
    ['another method and customer', { paymentMethod: 'X', customer: 7 }, {}],
    ['an id in capitals', { id: ID.toUpperCase() }, {}],
  ])('warns of no difference for %s', async (_, claimed, recorded) => {
    const { reply, lookups, events } = setUp({}, async () => ({ ...completed, ...recorded }) as Payment);
    expect(await reply(post(JSON.stringify({ ...completed, ...claimed })))).toBe('200 handled');
    expect([lookups, warningsOf(events)]).toEqual([[ID], []]);
  });

  it('bears with a reference that is nested 40,000 deep', async () => {
    const { reply, events } = setUp();
    const deep = `${'['.repeat(40_000)}${']'.repeat(40_000)}`;
    expect(await reply(post(callback.replace('"order\\/1"', deep)))).toBe('200 handled');
    expect(warningsOf(events)).toMatchObject([{ message: expect.stringContaining(': reference.') }]);
  });

  it('compares references as text: 07 is not 7', async () => {
    const { reply, events } = setUp({}, async () => ({ ...completed, reference: '7' }));
    await reply(post(JSON.stringify({ ...completed, reference: '07' })));
    expect(warningsOf(events)).toMatchObject([{ message: expect.stringContaining(': reference.') }]);
  });

  it.each([
    ['told in its length, before it is read', () => post('{}', { 'content-length': '1001' })],
    ['found while reading', () => post(new Blob([callback.padEnd(1001)]).stream())],
  ])('answers 413 to a body above maxBodyBytes, %s', async (_, request) => {
    const { reply, lookups, errors } = setUp({ maxBodyBytes: 1000 });
    expect(await reply(request())).toBe('413 too_large');
    expect(lookups).toEqual([]);
    expect(errors).toMatchObject([{ message: "The callback's body is larger than maxBodyBytes, 1000 bytes." }]);
    expect(await reply(post(callback.padEnd(1000), { 'content-length': '1000' }))).toBe('200 handled');
  });

  it('takes 256 KiB by default, and no byte more', async () => {
    const { reply } = setUp();
    expect(await reply(post(callback.padEnd(262_144)))).toBe('200 handled');
    expect(await reply(post(callback.padEnd(262_145)))).toBe('413 too_large');
  });

  it.each([
    ['node:http, Express or Nest', { method: 'POST', headers: { 'content-type': 'application/json' } }],
    ['Hono', { req: { raw: post(callback) }, res: {} }],
    ['nothing', undefined],
  ])('says how to serve it where it gets what %s hands on', async (_, given) => {
    const { handler } = setUp();
    const error = await errorOf(handler(given as never));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toHaveProperty(
      'message',
      'A webhook handler takes a web-standard Request. Give Express, Fastify, Nest and node:http toNodeHandler(handler), and Hono ({ req }) => handler(req.raw).',
    );
  });

  it('answers, and gives its place back, also where onPayment throws what throws when it is looked at', {
    tags: 'long',
  }, async () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const thrown = () => {
      throw proxy;
    };
    const { reply } = setUp({ onPayment: thrown });
    for (let callbacks = 0; callbacks < 1_001; callbacks++) expect(await reply(post(callback))).toBe('503 failed');
  });

  it('answers 405 to anything but POST', async () => {
    const { handler } = setUp();
    const response = await handler(new Request('https://shop.example/callbacks'));
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    expect([response.headers.get('content-type'), await response.text()]).toEqual([
      'text/plain',
      'callbacks are posted',
    ]);
  });

  it('answers 503 with Retry-After when the lookup fails, and nothing is lost', async () => {
    let down = true;
    const { handler, reply, effects, errors } = setUp({}, async () => {
      if (down) throw new Error('gateway down');
      return completed;
    });
    const response = await handler(post(callback));
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '10']);
    expect([effects, errors]).toEqual([[], [new Error('gateway down')]]);
    down = false;
    expect(await reply(post(callback))).toBe('200 handled');
  });

  it('tells onError what onPayment rejected with, also where that is no error', async () => {
    const { reply, errors } = setUp({ onPayment: () => Promise.reject('no') });
    expect([await reply(post(callback)), errors]).toEqual(['503 failed', ['no']]);
  });

  it.each<[string, () => unknown]>([
    ['cannot read a body of its own', () => parseWebhook('{"result":{}}')],
    ['looks another payment up that there is not', () => notFound()],
    ['takes what it has for a code', () => Promise.reject(Object.assign(new Error('mail'), { code: 'busy' }))],
  ])('answers 503 when onPayment %s: no error of its own says anything of the callback', async (_, fail) => {
    let isDown = true;
    const { reply, errors, events } = setUp({ onPayment: () => (isDown ? fail() : undefined) });
    expect(await reply(post(callback))).toBe('503 failed');
    expect(errors).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: 'callback', result: 'failed', code: 'failed' });
    isDown = false;
    expect(await reply(post(callback))).toBe('200 handled');
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('shop');
      },
    ],
    ['rejects', () => Promise.reject(new Error('shop'))],
  ])('answers 503 when onPayment %s, and runs it again', async (_, fail) => {
    let calls = 0;
    const { reply, errors } = setUp({ onPayment: () => (++calls === 1 ? fail() : undefined) });
    expect(await reply(post(callback))).toBe('503 failed');
    expect(errors).toEqual([new Error('shop')]);
    expect(await reply(post(callback))).toBe('200 handled');
    expect(calls).toBe(2);
  });

  it('answers 503 with Retry-After: 1 when another worker is at the payment', async () => {
    const inbox: Inbox = { run: async () => 'busy' };
    const { handler, errors } = setUp({ inbox });
    const response = await handler(post(callback));
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    const message = `Another worker has payment ${ID}: take its callback again in a moment.`;
    expect(errors).toMatchObject([{ code: 'busy', message, paymentId: ID, issues: [] }]);
  });

  it('answers 503 to a payment that the gateway does not know yet, and takes it later', async () => {
    const { handler, reply, effects, lookups } = setUp(undefined, () =>
      new GatewayClient(new Sandbox().clientOptions).getPayment(OTHER_ID),
    );
    expect(await reply(post(callback))).toBe('503 unknown_payment');
    // For a moment it is not asked for again.
    const again = await handler(post(callback));
    expect([await again.text(), again.headers.get('retry-after')]).toEqual(['unknown_payment', '10']);
    expect([effects, lookups]).toEqual([[], [ID]]);
  });

  it('hands to onPayment what the inbox hands to it', async () => {
    const inbox: Inbox<{ tx: string }> = {
      run: async (_event, work) => {
        await work({ tx: 'the transaction' });
        return 'ran';
      },
    };
    const heard: string[] = [];
    const handler = createWebhookHandler({
      gateway: { getPayment: async () => completed },
      inbox,
      onPayment: (_payment, { tx }) => void heard.push(tx),
    });
    await handler(post(callback));
    expect(heard).toEqual(['the transaction']);
  });

  it('counts an unknown status by the word of the gateway', async () => {
    const events: unknown[] = [];
    const inbox: Inbox = {
      run: async event => {
        events.push(event);
        return 'ran';
      },
    };
    const unknown = { ...completed, paymentStatus: 'UNKNOWN', rawPaymentStatus: 'REFUNDED' } as Payment;
    await setUp({ inbox }, async () => ({ ...unknown, id: ID.toUpperCase() })).handler(
      post(callback.replace('COMPLETED', 'REFUNDED')),
    );
    expect(events).toEqual([{ paymentId: ID, status: 'REFUNDED', final: false }]);
  });

  it('shares one more lookup between all that arrive while one callback is at work', async () => {
    const slow = Promise.withResolvers<Payment>();
    const { reply, lookups, effects, events } = setUp({}, () => slow.promise);
    const replies = Array.from({ length: 50 }, () => reply(post(callback)));
    await expect.poll(() => events.length).toBe(50);
    slow.resolve(completed);
    for (const text of await Promise.all(replies)) expect(text).toMatch(/^200 handled/);
    expect([lookups.length, effects.length]).toEqual([2, 1]);
  });

  it('begins a lookup after each callback, also of two with the same body while the state moves', async () => {
    let status = 'AUTHORIZED';
    const looking = Promise.withResolvers<void>();
    const { reply, lookups, effects } = setUp({}, async () => {
      const found = { ...completed, paymentStatus: status } as Payment;
      await looking.promise;
      return found;
    });
    const body = JSON.stringify({ id: ID });
    const first = reply(post(body));
    await expect.poll(() => lookups.length).toBe(1);
    status = 'COMPLETED';
    const second = reply(post(body));
    looking.resolve();
    expect(await Promise.all([first, second])).toEqual(['200 handled', '200 handled']);
    expect(effects).toMatchObject([{ paymentStatus: 'AUTHORIZED' }, { paymentStatus: 'COMPLETED' }]);
  });

  it('bounds its lookups, and takes every callback of a flood in its turn', { tags: 'long' }, async () => {
    let running = 0;
    let most = 0;
    const { reply, lookups } = setUp({}, async id => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running -= 1;
      return { ...completed, id };
    });
    const forged = Array.from({ length: 1200 }, () => post(`{"id":"${randomUUID()}"}`));
    const replies = await Promise.all(forged.map(request => reply(request)));
    expect(most).toBe(16);
    expect([lookups.length, new Set(replies)]).toEqual([1200, new Set(['200 handled'])]);
  });

  it('lets callbacks of one payment take turns, so that none finds the inbox busy', async () => {
    const order: string[] = [];
    let status = 'AUTHORIZED';
    const entered = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    const { reply, events } = setUp(
      {
        onPayment: async ({ paymentStatus }) => {
          entered.resolve();
          await leave.promise;
          order.push(paymentStatus);
        },
      },
      async () => ({ ...completed, paymentStatus: status }) as Payment,
    );
    const first = reply(post(callback.replace('COMPLETED', 'AUTHORIZED')));
    await entered.promise;
    status = 'COMPLETED';
    const second = reply(post(callback));
    await expect.poll(() => events.length).toBe(2);
    leave.resolve();
    expect(await Promise.all([first, second])).toEqual(['200 handled', '200 handled']);
    expect(order).toEqual(['AUTHORIZED', 'COMPLETED']);
  });

  it('goes on with its work when the caller has gone', async () => {
    const caller = new AbortController();
    const { handler, effects } = setUp({}, async () => {
      caller.abort();
      await new Promise(resolve => setTimeout(resolve, 5));
      return completed;
    });
    const request = new Request(post(callback), { signal: caller.signal });
    expect((await handler(request)).status).toBe(200);
    expect(effects).toHaveLength(1);
  });

  it('bears with an onError that throws', async () => {
    const { reply } = setUp({
      onError: () => {
        throw new Error('observer');
      },
    });
    expect(await reply(post('nope'))).toBe('400 not_json');
  });

  describe('with fake time', () => {
    afterEach(() => void vi.useRealTimers());

    it('gives a body ten seconds', async () => {
      vi.useFakeTimers();
      const { handler, errors } = setUp();
      let isCancelled = false;
      const trickle = new ReadableStream({
        pull: () => new Promise(() => {}),
        cancel: () => {
          isCancelled = true;
        },
      });
      const response = handler(post(trickle));
      await vi.advanceTimersByTimeAsync(9_990);
      expect(await Promise.race([response, 'waiting'])).toBe('waiting');
      await vi.advanceTimersByTimeAsync(20);
      expect((await response).status).toBe(503);
      expect(errors).toEqual([new Error("The callback's body took more than 10000 ms.")]);
      // Nothing more of it is read.
      expect(isCancelled).toBe(true);
    });

    it('answers 503 while the record lags, runs nothing, and takes the callback later', async () => {
      vi.useFakeTimers();
      let recorded = 'PENDING';
      const { reply, effects, lookups } = setUp({}, async () => ({ ...completed, paymentStatus: recorded }) as Payment);
      const early = reply(post(callback));
      await vi.runAllTimersAsync();
      expect([await early, effects, lookups.length]).toEqual(['503 lagging', [], 3]);
      recorded = 'COMPLETED';
      expect(await reply(post(callback))).toBe('200 handled');
      expect(effects).toMatchObject([{ paymentStatus: 'COMPLETED' }]);
    });

    it('answers every callback within 25 seconds, while onPayment goes on and is marked', async () => {
      vi.useFakeTimers();
      const slow = Promise.withResolvers<void>();
      const { reply, errors, events } = setUp({ onPayment: () => slow.promise });
      const first = reply(post(callback));
      const second = reply(post(callback));
      await vi.advanceTimersByTimeAsync(24_990);
      expect(await Promise.race([first, second, 'waiting'])).toBe('waiting');
      await vi.advanceTimersByTimeAsync(20);
      expect([await first, await second]).toEqual(['503 busy', '503 busy']);
      const message =
        'A callback was not handled within 25000 ms, and was answered 503. Work that has started continues.';
      const late = { code: 'busy', message, paymentId: ID, issues: [] };
      expect(errors).toMatchObject([late, late]);
      slow.resolve();
      await vi.advanceTimersByTimeAsync(0);
      expect(await reply(post(callback))).toBe('200 handled before');
      expect(resultsOf(events)).toEqual([
        'received',
        'received',
        'busy',
        'busy',
        'ran',
        'already',
        'received',
        'already',
      ]);
      const answers = events.flatMap(event =>
        event.type === 'callback' && event.result !== 'received' ? [event] : [],
      );
      expect(answers.map(({ httpStatus }) => httpStatus)).toEqual([503, 503, undefined, undefined, 200]);
    });

    it('gives a lookup ten seconds, so that a gateway that stands still keeps no place', async () => {
      vi.useFakeTimers();
      let signal: AbortSignal | undefined;
      const gateway: WebhookGateway = {
        getPayment: (_, options) => {
          signal = options?.signal;
          return new Promise(() => {});
        },
      };
      const { reply, errors } = setUp({ gateway });
      const first = reply(post(callback));
      await vi.advanceTimersByTimeAsync(10_000);
      expect([await first, signal?.aborted]).toEqual(['503 failed', true]);
      const message = `The lookup of payment ${ID} took more than 10000 ms.`;
      expect(errors).toMatchObject([{ name: 'ConnectionError', code: 'timeout', message }]);
    });

    it.each([
      ['once it is over', 10, ['unknown_payment', 'unknown_payment'], 2],
      ['not before', 4.9, ['unknown_payment', 'unknown_payment'], 1],
    ])('remembers an unknown id for five seconds: asks again %s', async (_, seconds, codes, asked) => {
      vi.useFakeTimers();
      const { reply, lookups } = setUp({}, notFound);
      const replies = [await reply(post(callback))];
      await vi.advanceTimersByTimeAsync(seconds * 1000);
      replies.push(await reply(post(callback)));
      expect([replies, lookups.length]).toEqual([codes.map(code => `503 ${code}`), asked]);
    });
  });
});

describe('bodies that a framework has read', () => {
  const parsed = JSON.parse(callback);

  it('are used as they are: the lookup is the proof', async () => {
    const { reply, effects } = setUp();
    expect(await reply(post(null), parsed)).toBe('200 handled');
    expect(effects).toHaveLength(1);
  });

  it('are found on a request that another copy of the SDK has marked', async () => {
    const marked = Object.defineProperty(post(null), Symbol.for('payment-gateway-sdk.parsed-body'), {
      value: { body: parsed },
    });
    expect(await setUp().reply(marked)).toBe('200 handled');
  });

  it('are an error only with verify set, which names the fix and loses nothing', async () => {
    const { reply, errors, lookups } = setUp({ verify: () => true });
    expect(await reply(post(null), parsed)).toBe('503 already_parsed');
    expect(errors).toMatchObject([{ code: 'already_parsed', message: expect.stringContaining('express.raw') }]);
    expect(lookups).toEqual([]);
  });

  it('are an error if nothing of them is left', async () => {
    const { reply, errors } = setUp();
    const request = post(callback);
    await request.text();
    expect(await reply(request)).toBe('503 already_parsed');
    expect(errors).toMatchObject([{ code: 'already_parsed', message: expect.stringContaining('request.clone()') }]);
  });
});

describe('verify', () => {
  it('sees the exact bytes and the headers, before anything is believed', async () => {
    const seen: [string, string | null][] = [];
    const { reply, lookups, errors } = setUp({
      verify: (request, rawBody) => {
        seen.push([Buffer.from(rawBody).toString(), request.headers.get('x-signature')]);
        return request.headers.get('x-signature') === 'right';
      },
    });
    expect(await reply(post(callback, { 'x-signature': 'wrong' }))).toBe('401 refused');
    expect(lookups).toEqual([]);
    expect(errors).toMatchObject([{ code: 'refused', message: 'Your `verify` refused a callback.' }]);
    expect(await reply(post(callback, { 'x-signature': 'right' }))).toBe('200 handled');
    expect(seen).toEqual([
      [callback, 'wrong'],
      [callback, 'right'],
    ]);
  });

  it('that fails is no refusal: the callback may come again', async () => {
    const { reply } = setUp({
      verify: async () => {
        throw new Error('no keys');
      },
    });
    expect(await reply(post(callback))).toBe('503 failed');
  });
});

describe('process', () => {
  it('does for a sweep what a callback does, once for both', async () => {
    const { handler, reply, effects } = setUp();
    expect(await handler.process(ID)).toEqual({ result: 'ran', payment: completed });
    expect(await handler.process(ID.toUpperCase())).toEqual({ result: 'already', payment: completed });
    expect(await reply(post(callback))).toBe('200 handled before');
    expect(effects).toHaveLength(1);
  });

  it('throws what the lookup throws', async () => {
    const { handler } = setUp({}, async () => Promise.reject(new Error('gateway down')));
    await expect(handler.process(ID)).rejects.toThrow('gateway down');
  });

  it('takes a whole client, and a payment of the sandbox', async () => {
    const sandbox = new Sandbox({ fetch: async () => new Response() });
    const gateway = new GatewayClient(sandbox.clientOptions);
    const { payment } = await gateway.createDeposit(CARD);
    const credited: string[] = [];
    const handler = createWebhookHandler({
      gateway,
      onPayment: payment => {
        if (payment.paymentType === 'DEPOSIT' && isPaid(payment)) credited.push(payment.id);
      },
    });
    expect(await handler.process(payment.id)).toMatchObject({ result: 'ran', payment: { paymentStatus: 'PENDING' } });
    await sandbox.complete(payment.id);
    expect(await handler.process(payment.id)).toMatchObject({ result: 'ran', payment: { paymentStatus: 'COMPLETED' } });
    expect(await handler.process(payment.id)).toMatchObject({ result: 'already' });
    expect(credited).toEqual([payment.id]);
  });
});

describe('createWebhookHandler', () => {
  it("leaves alone what a runtime passes beside the request: Bun's server, Deno's info, Next's context", async () => {
    const { handler, effects } = setUp();
    const beside = handler as (...args: unknown[]) => Promise<Response>;
    for (const second of [{ remoteAddr: {} }, { params: Promise.resolve({}) }, 'server']) {
      expect((await beside(post(callback), second, {})).status).toBe(200);
    }
    expect(effects).toEqual([completed]);
  });

  it.each([
    [undefined, 'createWebhookHandler: takes one object of options'],
    [{ onPayment() {} }, 'gateway must be a GatewayClient'],
    [{ gateway: {}, onPayment() {} }, 'gateway must be a GatewayClient'],
    [{ gateway: { getPayment() {} }, onPayment() {}, unsigned: 'no' }, "unsigned must be 'limit' or 'refuse'"],
    [{ gateway: { getPayment() {} } }, 'onPayment must be a function'],
    [{ gateway: { getPayment() {} }, onPaymnt() {} }, 'unknown option "onPaymnt" (did you mean "onPayment"?)'],
    [
      { gateway: { getPayment() {} }, onPayment() {}, inbox: {} },
      'inbox must be an inbox, such as postgresInbox(pool)',
    ],
    [{ gateway: { getPayment() {} }, onPayment() {}, maxBodyBytes: 0 }, 'maxBodyBytes must be'],
    [{ gateway: { getPayment() {} }, onPayment() {}, verify: true }, 'verify must be a function'],
    [{ gateway: { getPayment() {} }, onPayment() {}, onError: 'log' }, 'onError must be a function'],
  ])('refuses %j when it is made, and not callback by callback', (options, told) => {
    const make = createWebhookHandler as (options: unknown) => unknown;
    expect(() => make(options)).toThrow(told);
    expect(() => make(options)).toThrow(expect.objectContaining({ name: 'ConfigurationError' }));
  });

  it("knows the gateway's 404 also from the SDK's other copy, when an app loads both", async () => {
    const { reply } = setUp({}, notFound);
    expect(await reply(post(callback))).toBe('503 unknown_payment');
  });
});
