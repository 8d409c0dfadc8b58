import {
  createWebhookHandler,
  GatewayClient,
  type Inbox,
  isPaid,
  type Payment,
  type WebhookHandlerOptions,
} from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { withParsedBody } from '../../src/webhooks/request-body.ts';
import { CARD, ID, OTHER_ID, record } from '../support/fixtures.ts';

const callback = record('completed CARD callback');
const completed: Payment = JSON.parse(callback);

const post = (body: BodyInit | null, headers: Record<string, string> = {}) =>
  new Request('https://shop.example/callbacks', {
    method: 'POST',
    body,
    headers,
    duplex: 'half',
  } as RequestInit);
type BodyInit = NonNullable<RequestInit['body']>;

/** A handler whose gateway knows one payment, and what it did. */
function setUp(
  options: Partial<WebhookHandlerOptions> = {},
  lookUp: (id: string) => Promise<Payment> = async () => completed,
) {
  const lookups: string[] = [];
  const effects: Payment[] = [];
  const errors: unknown[] = [];
  const handler = createWebhookHandler({
    gateway: {
      getPayment: async id => {
        lookups.push(id);
        return lookUp(id);
      },
    },
    onPayment: payment => void effects.push(payment),
    onError: error => void errors.push(error),
    ...options,
  });
  const reply = async (request: Request, parsedBody?: object) => {
    const response = await handler(parsedBody ? withParsedBody(request, parsedBody) : request);
    return `${response.status} ${await response.text()}`;
  };
  return { handler, reply, lookups, effects, errors };
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
    expect(await reply(post(callback))).toBe('200 handled');
    expect(effects).toMatchObject([{ paymentStatus: 'FAILED' }]);
  });

  it.each([
    ['not_json', 'nope'],
    ['not_json', ''],
    ['wrapped', record('completed lookup')],
    ['invalid', '{"id":7}'],
    ['invalid', 'null'],
  ])('answers 400 %s for good, without a lookup, to %j', async (code, body) => {
    const { reply, lookups, effects, errors } = setUp();
    expect(await reply(post(body))).toBe(`400 ${code}`);
    expect([lookups, effects]).toEqual([[], []]);
    expect(errors).toMatchObject([{ name: 'WebhookError', code }]);
  });

  it('answers 400 to a callback that the gateway does not bear out', async () => {
    const { reply, effects } = setUp();
    expect(await reply(post(callback.replace('25.5', '2550')))).toBe('400 unconfirmed');
    const unknown = setUp(undefined, () => new GatewayClient(new Sandbox().clientOptions).getPayment(OTHER_ID));
    expect(await unknown.reply(post(callback))).toBe('400 unconfirmed');
    expect([effects, unknown.effects]).toEqual([[], []]);
  });

  it.each([
    ['told in its length', () => post(callback.padEnd(1001), { 'content-length': '1001' })],
    ['found while reading', () => post(new Blob([callback.padEnd(1001)]).stream())],
  ])('answers 413 to a body above maxBodyBytes, %s', async (_, request) => {
    const { reply, lookups } = setUp({ maxBodyBytes: 1000 });
    expect(await reply(request())).toBe('413 too_large');
    expect(lookups).toEqual([]);
    expect(await reply(post(callback.padEnd(1000)))).toBe('200 handled');
  });

  it('takes 256 KiB by default, and no byte more', async () => {
    const { reply } = setUp();
    expect(await reply(post(callback.padEnd(262_144)))).toBe('200 handled');
    expect(await reply(post(callback.padEnd(262_145)))).toBe('413 too_large');
  });

  it('answers 405 to anything but POST', async () => {
    const { handler } = setUp();
    const response = await handler(new Request('https://shop.example/callbacks'));
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
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
    const response = await setUp({ inbox }).handler(post(callback));
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
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

  it('shares one lookup and one effect between identical callbacks in flight', async () => {
    const { reply, lookups, effects } = setUp({}, async () => {
      await new Promise(resolve => setTimeout(resolve, 20));
      return completed;
    });
    const replies = await Promise.all(Array.from({ length: 50 }, () => reply(post(callback))));
    expect(new Set(replies)).toEqual(new Set(['200 handled']));
    expect([lookups.length, effects.length]).toEqual([1, 1]);
  });

  it('bounds its lookups, and turns away a flood beyond those in line', async () => {
    let running = 0;
    let most = 0;
    const { reply, lookups } = setUp({}, async () => {
      most = Math.max(most, ++running);
      await new Promise(resolve => setTimeout(resolve, 5));
      running -= 1;
      return completed;
    });
    const forged = Array.from({ length: 3000 }, (_, index) => post(`{"id":"${ID}","forged":${index}}`));
    const replies = await Promise.all(forged.map(request => reply(request)));
    expect(most).toBe(16);
    expect(lookups).toHaveLength(1016);
    expect(replies.filter(text => text === '503 failed')).toHaveLength(1984);
  });

  it('lets callbacks of one payment take turns, so that none finds the inbox busy', async () => {
    const order: string[] = [];
    let status = 'AUTHORIZED';
    const { reply } = setUp(
      {
        onPayment: async ({ paymentStatus }) => {
          await new Promise(resolve => setTimeout(resolve, 20));
          order.push(paymentStatus);
        },
      },
      async () => ({ ...completed, paymentStatus: status }) as Payment,
    );
    const first = reply(post(callback.replace('COMPLETED', 'AUTHORIZED')));
    await new Promise(resolve => setTimeout(resolve, 5));
    status = 'COMPLETED';
    expect(await Promise.all([first, reply(post(callback))])).toEqual(['200 handled', '200 handled']);
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
      const { handler } = setUp();
      const trickle = new ReadableStream({ pull: () => new Promise(() => {}) });
      const response = handler(post(trickle));
      await vi.advanceTimersByTimeAsync(9_990);
      expect(await Promise.race([response, 'waiting'])).toBe('waiting');
      await vi.advanceTimersByTimeAsync(20);
      expect((await response).status).toBe(503);
    });

    it('answers 503 while the record lags, runs nothing, and takes the callback later', async () => {
      vi.useFakeTimers();
      let recorded = 'PENDING';
      const { reply, effects, lookups } = setUp({}, async () => ({ ...completed, paymentStatus: recorded }) as Payment);
      const early = reply(post(callback));
      await vi.runAllTimersAsync();
      expect([await early, effects, lookups.length]).toEqual(['503 failed', [], 3]);
      recorded = 'COMPLETED';
      expect(await reply(post(callback))).toBe('200 handled');
      expect(effects).toMatchObject([{ paymentStatus: 'COMPLETED' }]);
    });

    it('lets no callback wait more than five seconds for its turn', async () => {
      vi.useFakeTimers();
      const { reply } = setUp({ onPayment: () => new Promise(() => {}) });
      void reply(post(callback));
      const second = reply(post(callback.replace('{', '{ ')));
      await vi.advanceTimersByTimeAsync(5_000);
      expect(await second).toBe('503 busy');
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

  it('are an error only with verify set, which names the fix and loses nothing', async () => {
    const { reply, errors, lookups } = setUp({ verify: () => true });
    expect(await reply(post(null), parsed)).toBe('503 failed');
    expect(errors).toMatchObject([{ code: 'already_parsed', message: expect.stringContaining('express.raw') }]);
    expect(lookups).toEqual([]);
  });

  it('are an error if nothing of them is left', async () => {
    const { reply, errors } = setUp();
    const request = post(callback);
    await request.text();
    expect(await reply(request)).toBe('503 failed');
    expect(errors).toMatchObject([{ code: 'already_parsed', message: expect.stringContaining('request.clone()') }]);
  });
});

describe('verify', () => {
  it('sees the exact bytes and the headers, before anything is believed', async () => {
    const seen: [string, string | null][] = [];
    const { reply, lookups } = setUp({
      verify: (request, rawBody) => {
        seen.push([Buffer.from(rawBody).toString(), request.headers.get('x-signature')]);
        return request.headers.get('x-signature') === 'right';
      },
    });
    expect(await reply(post(callback, { 'x-signature': 'wrong' }))).toBe('401 refused');
    expect(lookups).toEqual([]);
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
    expect(await handler.process(ID)).toBe('ran');
    expect(await handler.process(ID.toUpperCase())).toBe('already');
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
    expect(await handler.process(payment.id)).toBe('ran');
    await sandbox.complete(payment.id);
    expect([await handler.process(payment.id), await handler.process(payment.id)]).toEqual(['ran', 'already']);
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
    [undefined, 'takes one object of options'],
    [{ onPayment() {} }, 'gateway must be a GatewayClient'],
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

  it('without onError warns of a callback that it answers 503, and not with the words of the error', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const handler = createWebhookHandler({
      gateway: { getPayment: async () => completed },
      onPayment: () => {
        throw new RangeError('jane@customer.example');
      },
    });
    expect((await handler(post(callback))).status).toBe(503);
    expect((await handler(post('nope'))).status).toBe(400);
    expect(warn.mock.calls.map(([told]) => told)).toEqual([
      'A callback was answered 503: RangeError. Pass onError to get the error.',
    ]);
    warn.mockRestore();
  });

  it("knows the gateway's 404 also from the SDK's other copy, when an app loads both", async () => {
    const { reply } = setUp({}, async () => {
      const foreign = Object.assign(new Error('not found'), { name: 'PaymentNotFoundError' });
      throw Object.defineProperty(foreign, Symbol.for('payment-gateway-sdk.error'), { value: true });
    });
    expect(await reply(post(callback))).toBe('400 unconfirmed');
  });
});
