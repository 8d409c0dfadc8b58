import { inspect } from 'node:util';
import { GatewayClient, type GatewayEvent, memoryStore, type Payment } from 'payment-gateway-sdk';
import { describe, expect, it, vi } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { CARD, errorOf, ID, KEYS, mirroring, OTHER_ID, record, throwing, webhookUrl } from './support/fixtures.ts';
import { json, wire } from './support/wire.ts';

const PAYID = { paymentMethod: 'PAYID', amount: '80.00', currency: 'AUD', webhookUrl } as const;

const HEADERS = {
  ...{ accept: 'application/json', 'accept-encoding': 'identity', authorization: 'Bearer test-api-key' },
  'user-agent': `payment-gateway-sdk/${manifest.version} node/${process.versions.node}`,
};

const accepted = () => mirroring();
const looked = () => json(record('completed lookup'));
const client = (fetch: ReturnType<typeof wire>['fetch'], options: object = {}) =>
  new GatewayClient({ ...KEYS, fetch, ...options });

describe('creating', () => {
  it('answers the payment and sends the customer to its redirectUrl', async () => {
    const { fetch } = wire(accepted());
    const { payment, nextAction } = await client(fetch).createDeposit(CARD);
    expect(payment).toMatchObject({ id: ID, paymentStatus: 'PENDING', amount: 25.5, currency: 'EUR' });
    expect(nextAction).toEqual({ type: 'redirect', redirectUrl: `https://pay.example/p/${ID}` });
  });

  it.each([200, 201, 202, 299])('takes the status %i as success: the document names none', async status => {
    const { fetch } = wire(json(record('created card deposit'), status));
    await expect(client(fetch).createDeposit(CARD)).resolves.toHaveProperty('payment.id', ID);
  });

  it('sends the bearer, the signature and JSON, follows no redirect and stores nothing', async () => {
    const { fetch, sent } = wire(accepted());
    await client(fetch).createDeposit(CARD);
    expect(sent[0]).toMatchObject({ method: 'POST', init: { redirect: 'manual', cache: 'no-store' } });
    expect(Object.fromEntries(sent[0]?.headers ?? [])).toEqual({
      ...HEADERS,
      'content-type': 'application/json',
      signature: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it.each([
    ['createDeposit', 'DEPOSIT'],
    ['createWithdrawal', 'WITHDRAWAL'],
    ['createNftPurchase', 'DEPOSIT'],
  ] as const)('%s makes a %s, whatever paymentType is smuggled in', async (method, paymentType) => {
    const { fetch, sent } = wire(accepted());
    await client(fetch)[method](CARD);
    expect(JSON.parse(sent[0]?.body ?? '')).toHaveProperty('paymentType', paymentType);
    const other = paymentType === 'DEPOSIT' ? 'WITHDRAWAL' : 'DEPOSIT';
    const smuggled = { ...CARD, paymentType: other };
    const error = await errorOf(client(fetch)[method](smuggled as never));
    expect(error).toMatchObject({ issues: [{ path: 'paymentType' }] });
    expect(sent).toHaveLength(1);
  });

  const OWN = 'https://shop.example/own';
  it.each([
    [{}, [webhookUrl, undefined]],
    [{ webhookUrl: null, callbackUrl: undefined }, [webhookUrl, undefined]],
    [{ webhookUrl: OWN }, [OWN, undefined]],
    [{ callbackUrl: OWN }, [undefined, OWN]],
  ])('sends the default webhookUrl with %j only if it has no address: %j', async (own, addresses) => {
    const request = { ...CARD, webhookUrl: undefined, ...own };
    const { fetch, sent } = wire(accepted(), accepted(), accepted(), accepted());
    const gateway = client(fetch, { webhookUrl });
    await gateway.createDeposit(request);
    await gateway.createWithdrawal(request);
    await gateway.createNftPurchase(request);
    await gateway.createPayment({ ...request, paymentType: 'DEPOSIT' });
    const bodies = sent.map(({ body }) => JSON.parse(body));
    expect(bodies.map(body => [body.webhookUrl, body.callbackUrl])).toEqual(Array(4).fill(addresses));
  });

  it.each(['javascript:alert(1)', '/p/1', 'pay.example', 'https://a b', 'data:text/html,x'])(
    'sends no customer to %s',
    async redirectUrl => {
      const { fetch } = wire(json(JSON.stringify({ ...JSON.parse(record('created, unwrapped')), redirectUrl })));
      const { nextAction } = await client(fetch).createDeposit(CARD);
      expect(nextAction).toEqual({ type: 'wait' });
    },
  );

  it.each([
    ['amount', { amount: 26 }],
    ['currency', { currency: 'USD' }],
    ['paymentType', { paymentType: 'WITHDRAWAL' }],
    ['reference', { reference: 'order/2' }],
    ['reference, amount', { reference: 'order/2', amount: 2550 }],
  ])('has an unknown outcome if the answer names another %s, with the id of that payment', async (fields, other) => {
    const { fetch } = wire(json(JSON.stringify({ ...JSON.parse(record('created, unwrapped')), ...other })));
    const error = await errorOf(client(fetch).createDeposit({ ...CARD, reference: 'order/1' }));
    const differing = fields.split(', ');
    expect(error).toMatchObject({
      name: 'ResponseError',
      outcome: 'unknown',
      paymentId: ID,
      issues: differing.map(path => ({ path, message: 'differs from the request' })),
      message: expect.stringContaining(`: ${differing[0]}: differs from the request`),
    });
  });

  it.each(['ORDER/1', ' order/1 '])(
    'takes an answer with the reference %j, as a gateway may write it',
    async reference => {
      const { fetch } = wire(json(JSON.stringify({ ...JSON.parse(record('created, unwrapped')), reference })));
      const { payment } = await client(fetch).createDeposit({ ...CARD, amount: 25.5, reference: 'order/1' });
      expect(payment).toMatchObject({ id: ID, reference });
    },
  );

  it('says nothing of an answer without a reference, or to a request without one', async () => {
    const events: GatewayEvent[] = [];
    const answer = record('created, unwrapped');
    const { fetch } = wire(json(answer), json(answer.replace('"order/1"', 'null')));
    const gateway = client(fetch, { onEvent: (event: GatewayEvent) => events.push(event) });
    await gateway.createDeposit({ ...CARD, amount: 25.5, currency: 'eur', reference: null });
    await gateway.createDeposit({ ...CARD, amount: 25.5, reference: 'order/1' });
    expect(events.filter(({ type }) => type === 'warning')).toEqual([]);
  });

  const [payId, card] = [record('created PayID deposit'), record('created card deposit')];
  const NUMBER = '"pay@payid.example"';
  it.each([
    ['a final transfer', PAYID, payId.replace('PENDING', 'FAILED')],
    ['a final redirect', CARD, card.replace('PENDING', 'COMPLETED')],
    ['a transfer whose number is null', PAYID, payId.replace(NUMBER, 'null')],
    ['a transfer whose number is empty', PAYID, payId.replace(NUMBER, '""')],
  ])('asks nothing of the customer after %s', async (_, request, answer) => {
    const { nextAction } = await client(wire(json(answer)).fetch).createDeposit(request);
    expect(nextAction).toEqual({ type: 'wait' });
  });
});

describe('the methods of a client', () => {
  it('work detached', async () => {
    const { createDeposit, getPayment, doubts, find, settle } = client(wire(accepted(), looked()).fetch);
    await expect(createDeposit(CARD)).resolves.toHaveProperty('payment.id', ID);
    await expect(getPayment(ID)).resolves.toHaveProperty('id', ID);
    await expect(doubts()).rejects.toThrow('doubts needs a client with a store');
    await expect(find('order-1')).rejects.toThrow('find needs a client with a store');
    await expect(settle('order-1', 'not_created')).rejects.toThrow('settle needs a client with a store');
  });

  it('work through a Proxy, as of a dependency-injection container, and keep their keys', async () => {
    const proxied = new Proxy(client(wire(accepted()).fetch), {});
    await expect(proxied.createDeposit(CARD)).resolves.toHaveProperty('payment.id', ID);
    expect(inspect(proxied, { showProxy: true, showHidden: true, depth: 9 })).not.toMatch(KEYS.signKey);
  });

  it('can be replaced by a spy, and by those of a subclass', async () => {
    class Counting extends GatewayClient {
      count = 0;
      override createDeposit: GatewayClient['createDeposit'] = async (...call) => {
        this.count += 1;
        return super.createDeposit(...call);
      };
      override async getPayment(id: string): Promise<Payment> {
        this.count += 1;
        return super.getPayment(id);
      }
    }
    const counting = new Counting({ ...KEYS, fetch: wire(accepted(), looked()).fetch });
    const { createDeposit, getPayment } = counting;
    await createDeposit(CARD);
    await getPayment(ID);
    expect(counting.count).toBe(2);
    const spy = vi.spyOn(counting, 'getPayment').mockRejectedValue(new Error('spied'));
    await expect(counting.getPayment(ID)).rejects.toThrow('spied');
    expect(spy).toHaveBeenCalledWith(ID);
  });
});

it.each([300, 304, 503])('a lookup that is answered %i names its payment in the error', async status => {
  const { fetch } = wire(status === 304 ? new Response(null, { status }) : json(record('completed lookup'), status));
  const error = await errorOf(client(fetch, { retries: 0 }).getPayment(ID));
  expect(error).toMatchObject({ name: 'ApiError', status, paymentId: ID });
});

describe('a refused create', () => {
  /** Those that say that nothing was made; the others may be those of a proxy that had passed the create on. */
  const REFUSALS = [400, 401, 402, 403, 404, 405, 406, 411, 413, 414, 415, 422, 429, 431, 451];
  const OTHERS = [
    301, 307, 407, 408, 409, 410, 412, 418, 421, 423, 424, 425, 426, 428, 460, 499, 500, 502, 503, 504, 520,
  ];
  it.each([
    ...REFUSALS.map(status => [status, 'rejected'] as const),
    ...OTHERS.map(status => [status, 'unknown'] as const),
  ])('with status %i leaves the outcome %s, and is not repeated', async (status, outcome) => {
    const { fetch, sent } = wire(json('{"message":"no"}', status, { 'x-request-id': 'r-1', 'retry-after': '0' }));
    const error = await errorOf(client(fetch, { retries: 5 }).createDeposit({ ...CARD, reference: 'order-1' }));
    expect(error).toMatchObject({ name: 'ApiError', code: 'api_error', status, outcome, requestId: 'r-1' });
    expect(error).toHaveProperty('body', '{"message":"no"}');
    expect(error).not.toHaveProperty('paymentId');
    expect((error as Error).message).toContain('"order-1"');
    expect(sent).toHaveLength(1);
  });

  it.each([
    [401, 'Check apiKey, signKey and signatureEncoding.', 'Check apiKey.'],
    [403, 'Check apiKey, signKey and signatureEncoding.', 'Check apiKey.'],
    [404, `Check baseUrl, ${KEYS.baseUrl}: is it the gateway's?`, `check baseUrl, ${KEYS.baseUrl}, and apiKey.`],
    [405, `Check baseUrl, ${KEYS.baseUrl}: is it the gateway's?`, '`body` holds its text.'],
    [422, '`body` holds its text.', '`body` holds its text.'],
  ])('with status %i says what to check, and that no payment was created', async (status, ofCreate, ofLookup) => {
    const gateway = client(wire(json('{}', status)).fetch);
    await expect(gateway.createDeposit(CARD)).rejects.toThrow(`${ofCreate} No payment was created.`);
    expect(((await errorOf(gateway.getPayment(ID))) as Error).message.endsWith(ofLookup)).toBe(true);
  });
});

describe('an accepted create whose answer cannot be read', () => {
  const drifted = (changes: object) =>
    JSON.stringify({ result: { ...JSON.parse(record('created card deposit')).result, ...changes } });

  it.each([
    ['a null too many', drifted({ currency: null }), 'currency'],
    ['an amount with a comma', drifted({ amount: '25,50' }), 'amount'],
    ['another paymentType', drifted({ paymentType: 'REFUND' }), 'paymentType'],
    ['a PHP warning before it', `<b>Warning</b>: x\n${record('created card deposit')}`, ''],
    ['its second half missing', record('created card deposit').slice(0, 120), ''],
    [
      'the order_id of another payment',
      record('created PayID deposit').replace(/"order_id":"[^"]+"/, `"order_id":"${OTHER_ID}"`),
      'order_id',
    ],
    ['2 MB of padding', `${record('created, unwrapped').slice(0, -1)},"pad":"${'x'.repeat(2_000_000)}"}`, ''],
  ])('for %s still yields the payment id', async (_, body, path) => {
    const { fetch, sent } = wire(json(body, 201));
    const error = await errorOf(client(fetch).createDeposit(CARD));
    const facts = { status: 201, outcome: 'unknown', paymentId: ID, issues: [{ path }] };
    expect(error).toMatchObject({ name: 'ResponseError', ...facts });
    const advice = `Payment ${ID} may exist: look it up before you create another. With a store, repeat the create`;
    expect((error as Error).message).toContain(`${advice} with the same reference: the SDK sends it once.`);
    expect(sent).toHaveLength(1);
  });

  it.each([
    ['nothing', ''],
    ['white space', ' \n'],
    ['HTML', '<html><body>502</body></html>'],
    ['null', 'null'],
    ['a wrapped null', '{"result":null}'],
    ['PHP [] for the record', '{"result":[]}'],
    ['[]', '[]'],
    ['a word', '"ok"'],
    ['half a literal', 'nul'],
  ])('for %s says that a payment may exist', async (_, body) => {
    const { fetch } = wire(json(body, 200));
    const error = await errorOf(client(fetch).createDeposit(CARD));
    expect(error).toMatchObject({ name: 'ResponseError', outcome: 'unknown', body });
    expect(error).not.toHaveProperty('paymentId');
    expect((error as Error).message).toMatch(/A payment may exist: wait for its callback/);
    expect((error as Error).message).toContain('The gateway answered 200 to the creation of a payment, and the answer');
  });

  it('reads at most a megabyte of it', async () => {
    let pulled = 0;
    const endless = new ReadableStream({
      pull(controller) {
        pulled += 65_536;
        controller.enqueue(new Uint8Array(65_536).fill(0x20));
      },
    });
    const error = await errorOf(client(wire(() => new Response(endless, { status: 201 })).fetch).createDeposit(CARD));
    expect(error).toMatchObject({ issues: [{ message: 'is longer than any answer of the gateway' }] });
    expect(pulled).toBeLessThan(1_300_000);
  });
});

describe('a create that is refused before anything is sent', () => {
  const EXTRA = 'options.extra: must be an object of fields';
  it.each<[string, request: unknown, options?: object, said?: string]>([
    ['nothing', undefined],
    ['too many decimals', { ...CARD, currency: 'JPY' }],
    ['an unknown option', CARD, { timeoutMs: 5 }, 'options: unknown option "timeoutMs"'],
    ['a slip', CARD, { signl: undefined }, 'options: unknown option "signl" (did you mean "signal"?)'],
    ['a signal', CARD, new AbortController().signal, 'options: unknown option "aborted"'],
    ['a controller', CARD, { signal: new AbortController() }, 'options.signal: must be an AbortSignal'],
    ['a timeout as text', CARD, { timeout: '5' }, 'options.timeout: must be milliseconds'],
    ...[[], 'x', null].map((extra): [string, object, object, string] => ['odd extra', CARD, { extra }, EXTRA]),
  ])('because of %s', async (_, request, options, said = 'Nothing was sent.') => {
    const { fetch, sent } = wire(accepted());
    const error = await errorOf(client(fetch).createDeposit(request as never, options as never));
    expect(error).toMatchObject({ name: 'InvalidRequestError', code: 'invalid_request', outcome: 'not_sent' });
    expect(String(error)).toContain(said);
    expect(sent).toEqual([]);
  });
});

describe('looking up', () => {
  it('reads a payment by its id, without a signature', async () => {
    const { fetch, sent } = wire(looked());
    await expect(client(fetch).getPayment(ID)).resolves.toMatchObject({ id: ID, paymentStatus: 'COMPLETED' });
    const url = `https://gateway.example/api/v1/payments/${ID}`;
    expect(sent[0]).toMatchObject({ method: 'GET', url, body: '' });
    expect(Object.fromEntries(sent[0]?.headers ?? [])).toEqual(HEADERS);
  });

  // properties/paths.test.ts tries every other string.
  it.each(['order-1', `${ID}/../${OTHER_ID}`, undefined])('lets nothing but a UUID into the path: not %j', async id => {
    const { fetch, sent } = wire(looked());
    await expect(client(fetch).getPayment(id as string)).rejects.toMatchObject({ issues: [{ path: 'id' }] });
    expect(sent).toEqual([]);
  });

  it('says so if no payment has that id', async () => {
    const { fetch, sent } = wire(json('{"message":"Payment not found."}', 404));
    const error = await errorOf(client(fetch).getPayment(OTHER_ID));
    expect(error).toMatchObject({ name: 'PaymentNotFoundError', status: 404, paymentId: OTHER_ID });
    expect(error).not.toHaveProperty('outcome');
    expect((error as Error).message).toContain(`The gateway has no payment ${OTHER_ID} (404).`);
    expect(sent).toHaveLength(1);
  });

  it('refuses the record of another payment, and compares ids in any case', async () => {
    const { fetch } = wire(looked());
    await expect(client(fetch).getPayment(OTHER_ID)).rejects.toMatchObject({
      name: 'ResponseError',
      issues: [{ path: 'id', message: 'is the id of another payment' }],
    });
    await expect(client(fetch).getPayment(ID.toUpperCase())).resolves.toHaveProperty('id', ID);
  });
});

describe('a withdrawal without a store', () => {
  const PAYOUT = { ...CARD, paymentMethod: 'SEPA', reference: 'payout-1' } as const;
  const warnings = async (work: () => Promise<unknown>) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    await work();
    const heard = warn.mock.calls.map(([text]) => text);
    warn.mockRestore();
    return heard;
  };

  it('is a warning under NODE_ENV=production, once for each client, and nowhere else', async () => {
    const withdraw = (gateway: GatewayClient) => gateway.createWithdrawal(PAYOUT);
    const open = (options?: object) => client(wire(accepted()).fetch, options);
    expect(await warnings(() => withdraw(open()))).toEqual([]);
    const withStore = open({ store: memoryStore() });
    vi.stubEnv('NODE_ENV', 'production');
    const gateway = open();
    expect(await warnings(() => gateway.createDeposit(CARD))).toEqual([]);
    expect(await warnings(() => withdraw(withStore))).toEqual([]);
    const heard = await warnings(async () => {
      await withdraw(gateway);
      await withdraw(gateway);
    });
    vi.unstubAllEnvs();
    expect(heard).toEqual([expect.stringContaining('without a store, so a retry can pay it again')]);
  });
});

it.each([
  ['throws', throwing(new Error('observer'))],
  ['rejects', () => Promise.reject(new Error('observer'))],
])('events change nothing when their observer %s', async (_, onEvent) => {
  const { payment } = await client(wire(accepted()).fetch, { onEvent }).createDeposit(CARD);
  expect(payment.id).toBe(ID);
});
