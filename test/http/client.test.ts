import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { GatewayClient, type GatewayEvent } from 'payment-gateway-sdk';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Fetch } from '../../src/http/own-fetch.ts';
import { CARD, errorOf, ID, KEYS, record } from '../support/fixtures.ts';
import { fakeTimers, timed, whileTimePasses } from '../support/passing-time.ts';
import { json, networkError, wire } from '../support/wire.ts';

const { setImmediate: realSetImmediate } = globalThis;
const created = record('created card deposit');
const client = (options: object) => new GatewayClient({ ...KEYS, ...options });

describe('a lookup', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  const found = () => json(record('completed lookup'));

  it.each([
    [2, [408, 425, 429, 500, 501, 502, 503, 504, 520]],
    [1, [200, 201, 204, 301, 302, 400, 401, 403, 404, 410, 418, 422, 426, 428, 451, 499]],
  ])('is sent %i times with `retries: 1` if it is answered %j', async (times, statuses) => {
    for (const status of statuses) {
      const { fetch, sent } = wire(() => new Response(status === 204 ? null : '', { status }));
      await timed(client({ fetch, retries: 1 }).getPayment(ID));
      expect([status, sent.length]).toEqual([status, times]);
    }
  });

  it.each([
    [
      [503, 429],
      [json('', 503), json('', 429), found()],
    ],
    [
      ['ECONNRESET', 'UND_ERR_SOCKET'],
      [networkError('ECONNRESET', 'read'), networkError('UND_ERR_SOCKET'), found()],
    ],
    [
      ['ECONNREFUSED', 502],
      [networkError('ECONNREFUSED', 'connect'), json('<html>', 502), found()],
    ],
  ])('is repeated after %j, and reports why and after what pause', async (reasons, [first, ...others]) => {
    const { fetch, sent } = wire(first as Response, ...(others as Response[]));
    const retries: { reason: unknown; waitedMs: number }[] = [];
    const onEvent = (event: GatewayEvent) => void (event.type === 'retry' && retries.push(event));
    const { value, ms } = await timed(client({ fetch, onEvent }).getPayment(ID));
    expect(value).toHaveProperty('id', ID);
    expect(sent).toHaveLength(3);
    expect(retries.map(({ reason }) => reason)).toEqual(reasons);
    expect(retries.reduce((sum, { waitedMs }) => sum + waitedMs, 0)).toBeCloseTo(ms, -1);
  });

  it('leaves no timer, which would keep the process alive', async () => {
    await client({ fetch: wire(found()).fetch }).getPayment(ID);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is repeated with its headers also where the fetch in use has changed them before', async () => {
    const { fetch, sent } = wire(init => {
      Object.assign(init.headers, { authorization: 'Bearer forged' });
      throw networkError('ECONNREFUSED', 'connect');
    }, found());
    await timed(client({ fetch }).getPayment(ID));
    const keys = sent.map(({ headers }) => headers.get('authorization'));
    expect(keys).toEqual(['Bearer test-api-key', 'Bearer test-api-key']);
  });

  it('waits longer each time, at random up to 300, 600, 1200 … ms and never beyond 5 s', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const { fetch } = wire(json('', 503));
    const full = await timed(client({ fetch, retries: 6 }).getPayment(ID));
    expect(full.ms).toBeCloseTo(300 + 600 + 1200 + 2400 + 4800 + 5000, -1);
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const half = await timed(client({ fetch, retries: 3 }).getPayment(ID));
    expect(half.ms).toBeCloseTo(150 + 300 + 600, -1);
  });

  it.each([
    ['in seconds', '2', 2000],
    ['in seconds with a fraction', '1.5', 1500],
    ['as a date', new Date(Date.UTC(2026, 10, 21, 12, 0, 3)).toUTCString(), 3000],
    ['as a date of digits', '2026-11-21T12:00:03+0000', 3000],
    ['capped at 10 s', '3600', 10_000],
    ['unless it is past', 'Sun, 06 Nov 1994 08:49:34 GMT', 0],
    ['unless it is no time', '1.5 minutes', 0],
  ])('heeds Retry-After %s', async (_, retryAfter, ms) => {
    vi.setSystemTime(Date.UTC(2026, 10, 21, 12, 0, 0));
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const { fetch } = wire(json('', 429, { 'retry-after': retryAfter }), found());
    const answer = await timed(client({ fetch }).getPayment(ID));
    expect(answer.value).toHaveProperty('id', ID);
    expect(answer.ms).toBeCloseTo(ms, -1);
  });

  it('answers at once what the gateway said, if Retry-After ends after the time-out', async () => {
    const { fetch, sent } = wire(json('', 503, { 'retry-after': '9' }));
    const { error, ms } = await timed(client({ fetch, timeout: 5000 }).getPayment(ID));
    expect(error).toMatchObject({ name: 'ApiError', status: 503 });
    expect([sent.length, ms < 50]).toEqual([1, true]);
  });

  it('has one time-out for all of its attempts', async () => {
    const { fetch, sent } = wire(() => new Promise(() => {}));
    const { error, ms } = await timed(client({ fetch, timeout: 1000, retries: 5 }).getPayment(ID));
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'timeout', paymentId: ID });
    expect(error).not.toHaveProperty('outcome');
    expect(ms).toBeCloseTo(1000, -1);
    expect(sent).toHaveLength(1);
  });

  it('tells the last answer, or the last failure, at once if its time would end in the next pause', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const busy = await timed(client({ fetch: wire(json('', 503)).fetch, timeout: 500, retries: 9 }).getPayment(ID));
    expect(busy.error).toMatchObject({ name: 'ApiError', status: 503 });
    const { fetch } = wire(networkError('ECONNREFUSED', 'connect'));
    const refused = await timed(client({ fetch, timeout: 500, retries: 9 }).getPayment(ID));
    expect(refused.error).toMatchObject({ name: 'ConnectionError', code: 'ECONNREFUSED' });
    for (const { ms } of [busy, refused]) expect(ms).toBeCloseTo(300, -1);
  });

  it('is stopped by its signal while it waits, and is not repeated', async () => {
    const { fetch, sent } = wire(json('', 503, { 'retry-after': '5' }));
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('the shop closes')), 1000);
    const { error, ms } = await timed(client({ fetch }).getPayment(ID, { signal: controller.signal }));
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'aborted' });
    expect([sent.length, Math.round(ms / 100)]).toEqual([1, 10]);
    const before = await timed(client({ fetch }).getPayment(ID, { signal: AbortSignal.abort() }));
    expect([before.error, sent.length]).toEqual([expect.objectContaining({ code: 'aborted' }), 1]);
  });
});

describe('a create', () => {
  it.each(['before it began', 'by an observer of its request'])('that is aborted %s was not sent', async when => {
    const controller = new AbortController();
    const onEvent = () => controller.abort();
    if (when === 'before it began') controller.abort();
    const { fetch, sent } = wire(json(created, 201));
    const error = await errorOf(client({ fetch, onEvent }).createDeposit(CARD, { signal: controller.signal }));
    expect(error).toMatchObject({ code: 'aborted', outcome: 'not_sent' });
    expect(sent).toEqual([]);
  });

  it.each([
    ['a refused connection of its own as the reason', networkError('ECONNREFUSED', 'connect'), true],
    ['a time-out of its own as the reason', new Error('x', { cause: { code: 'UND_ERR_CONNECT_TIMEOUT' } }), true],
    ['a fetch that heeds no signal', undefined, false],
  ])('that is aborted on the way with %s is unknown all the same', async (_, reason, isHeeded) => {
    const controller = new AbortController();
    const { fetch, sent } = wire(({ signal }) => {
      setTimeout(() => controller.abort(reason), 10);
      return new Promise((_resolve, reject) => {
        if (isHeeded) signal.addEventListener('abort', () => reject(signal.reason));
      });
    });
    const error = await errorOf(client({ fetch }).createDeposit(CARD, { signal: controller.signal }));
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'aborted', outcome: 'unknown' });
    expect(sent).toHaveLength(1);
  });

  it('that was answered is never repeated, whatever the body of the answer fails with', async () => {
    const { fetch, sent } = wire(() => {
      let pulls = 0;
      const body = new ReadableStream({
        pull: controller =>
          pulls++ === 0
            ? controller.enqueue(new TextEncoder().encode(created.slice(0, 200)))
            : controller.error(networkError('ECONNREFUSED', 'connect')),
      });
      return new Response(body, { status: 201 });
    });
    const error = await errorOf(client({ fetch }).createDeposit(CARD));
    expect(error).toMatchObject({ name: 'ConnectionError', outcome: 'unknown', paymentId: ID });
    expect(sent).toHaveLength(1);
  });

  it.each<[string, unknown[]]>([
    ['text', [created.slice(0, 100), created.slice(100)]],
    ['buffers', [new TextEncoder().encode(created).buffer]],
    ['bytes behind a byte order mark', [Buffer.from(`\uFEFF${created}`)]],
    ['no stream, but a text', []],
  ])('reads a stream of %s', async (_, chunks) => {
    const rest = [...chunks];
    const body = rest.length > 0 && {
      getReader: () => ({
        read: async () => ({ done: rest.length === 0, value: rest.shift() }),
        cancel: async () => {},
      }),
      cancel: async () => {},
    };
    const double = { status: 201, headers: new Headers(), body: body || null, text: async () => created };
    await expect(client({ fetch: async () => double }).createDeposit(CARD)).resolves.toHaveProperty('payment.id', ID);
  });

  /** A create of 20 ms that were up after it was sent, however long a machine at work takes to send it. */
  async function late(fetch: Fetch, isSent: () => boolean) {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const ended = errorOf(client({ fetch }).createDeposit(CARD, { timeout: 20 }));
    while (!isSent()) await new Promise(realSetImmediate);
    await vi.advanceTimersByTimeAsync(19);
    expect(await Promise.race([ended, 'waiting'])).toBe('waiting');
    await vi.advanceTimersByTimeAsync(1);
    return ended;
  }

  it('stops reading an answer above 1 MiB', async () => {
    const cancel = vi.fn();
    const body = new ReadableStream({ start: reader => reader.enqueue(new Uint8Array(2 ** 20 + 1)), cancel });
    const error = await errorOf(client({ fetch: async () => new Response(body) }).createDeposit(CARD));
    expect(error).toHaveProperty('outcome', 'unknown');
    expect(cancel).toHaveBeenCalledOnce();
  });

  it('stops reading an answer that comes after its time is up', async () => {
    const cancelled = Promise.withResolvers<void>();
    const answered: ((answer: Response) => void)[] = [];
    const fetch = () => new Promise<Response>(resolve => answered.push(resolve));
    expect(await late(fetch, () => answered.length > 0)).toMatchObject({ code: 'timeout', outcome: 'unknown' });
    answered[0]?.(new Response(new ReadableStream({ cancel: () => cancelled.resolve() })));
    await expect(cancelled.promise).resolves.toBeUndefined();
  });
});

describe('a call with a signal', () => {
  it('leaves nothing on it, and the signal of its fetch is not aborted once it is over', async () => {
    const { signal } = new AbortController();
    const { fetch, sent } = wire(json(created, 201));
    await client({ fetch }).createDeposit(CARD, { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(sent[0]?.init.signal.aborted).toBe(false);
  });

  it('that is aborted once the answer is there returns the payment', async () => {
    const controller = new AbortController();
    const onEvent = ({ type }: { type: string }) => void (type === 'response' && controller.abort());
    const { fetch } = wire(json(created, 201));
    const { payment } = await client({ fetch, onEvent }).createDeposit(CARD, { signal: controller.signal });
    expect(payment.id).toBe(ID);
  });
});

describe('a call whose time ends', () => {
  it('before it begins is not sent', async () => {
    const { fetch, sent } = wire(json(created, 201));
    const error = await errorOf(client({ fetch }).createDeposit(CARD, { timeout: Number.MIN_VALUE }));
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'timeout', outcome: 'not_sent' });
    expect(sent).toEqual([]);
  });

  it.each([
    ['createDeposit', CARD],
    ['getPayment', ID],
  ] as const)('by a clock that jumped is not sent, and not repeated: %s', async (method, what) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const calls: string[] = [];
    const onEvent = ({ type }: { type: string }) => {
      calls.push(type);
      if (type === 'request') vi.setSystemTime(Date.now() + 60_000);
    };
    const { fetch, sent } = wire(json(created, 201));
    const error = await errorOf(client({ fetch, onEvent, timeout: 20_000 })[method](what as never));
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'timeout' });
    expect([sent, calls]).toEqual([[], ['request', 'failure']]);
  });
});

it('a repeated attempt ends with the time-out', { tags: 'long' }, async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  vi.spyOn(Math, 'random').mockReturnValue(0);
  fakeTimers();
  const { fetch, sent } = wire(json('', 503), () => {
    // Node forgets the signal of a cloned request at the next collection.
    setTimeout(collectGarbage);
    return new Promise(() => {});
  });
  const ending = errorOf(client({ fetch, timeout: 1_000 }).getPayment(ID));
  expect(await whileTimePasses(ending, 1)).toMatchObject({ code: 'timeout' });
  expect(sent[1]?.init.signal.aborted).toBe(true);
  vi.restoreAllMocks();
});

it('a signal of another realm, as of a polyfill or a test runner, stops a call', { tags: 'long' }, async () => {
  const target = new EventTarget();
  const signal = Object.assign(target, { aborted: false, reason: undefined }) as unknown as AbortSignal;
  const { fetch, sent } = wire(() => new Promise(() => {}));
  const gateway = client({ fetch });
  const creating = errorOf(gateway.createDeposit(CARD, { signal }));
  await vi.waitFor(() => expect(sent).toHaveLength(1), 60_000);
  Object.assign(target, { aborted: true }).dispatchEvent(new Event('abort'));
  expect(await creating).toMatchObject({ name: 'ConnectionError', code: 'aborted', outcome: 'unknown' });
  const late = await errorOf(gateway.createDeposit(CARD, { signal }));
  expect(late).toMatchObject({ code: 'aborted', outcome: 'not_sent' });
});
