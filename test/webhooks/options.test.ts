// The options of createWebhookHandler, and the arguments of the handler.
import { ConfigurationError, createWebhookHandler, GatewayClient, memoryStore } from 'payment-gateway-sdk';
import { afterEach, expect, it, vi } from 'vitest';
import { errorOf, KEYS, record } from '../support/fixtures.ts';
import { json, wire } from '../support/wire.ts';
import { callback, completed, openShop, post } from './shop-callbacks.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const gateway = { getPayment: async () => completed };
const onPayment = () => {};
const withStore = new GatewayClient({ ...KEYS, store: memoryStore() });
it.each([
  [undefined, 'createWebhookHandler: takes one object of options'],
  [{ onPayment }, 'gateway must be a GatewayClient'],
  [{ gateway: {}, onPayment }, 'gateway must be a GatewayClient'],
  [{ gateway }, 'pass a function, such as onPaid, onAuthorized, onDeclined, onReversed.'],
  [{ gateway, onPaymnt() {} }, 'unknown option "onPaymnt" (did you mean "onPayment"?)'],
  [{ gateway: withStore, onPayed() {} }, 'unknown option "onPayed"; there are: gateway, onPaid, onAuthorized, '],
  [{ gateway: withStore, onPaid: 'credit' }, 'onPaid must be a function'],
  [{ gateway, onPaid() {}, onReversed() {} }, 'pass a client with a store for onPaid, onReversed: '],
  [{ gateway: new GatewayClient(KEYS), onPayment, onReview() {} }, 'pass a client with a store for onReview: '],
  [{ gateway, onPayment, store: memoryStore() }, 'unknown option "store"'],
  [{ gateway, onPayment, effectTimeout: 0 }, 'effectTimeout must be milliseconds'],
  [{ gateway, onPayment, effectTimeout: 25_001 }, 'effectTimeout must be milliseconds'],
  [{ gateway, onPayment, effectTimeout: Number.NaN }, 'effectTimeout must be milliseconds'],
  ...[gateway, new GatewayClient(KEYS)].map((unsigning): [object, string] => [
    { gateway: unsigning, onPayment, unsigned: 'refuse' },
    'new GatewayClient({ signCallbackUrls: true })',
  ]),
  [{ gateway, onPayment, unsigned: 'no' }, "unsigned must be 'limit' or 'refuse'"],
  [{ gateway, onPayment, maxBodyBytes: 0 }, 'maxBodyBytes must be'],
  [{ gateway, onPayment, verify: true }, 'verify must be a function'],
  [{ gateway, onPayment, onError: 'log' }, 'onError must be a function'],
])('refuses wrong options before any callback: %#', (options, message) => {
  const make = createWebhookHandler as (options: unknown) => unknown;
  expect(() => make(options)).toThrow(message);
  expect(() => make(options)).toThrow(expect.objectContaining({ name: 'ConfigurationError' }));
});

it.each([
  ['node:http, Express or Nest', { method: 'POST', headers: { 'content-type': 'application/json' } }],
  ['Hono', { req: { raw: post(callback) }, res: {} }],
  ['nothing', undefined],
])('names the adapter if it gets the arguments of %s', async (_, given) => {
  const error = await errorOf(openShop().handler(given as never));
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error).toHaveProperty('message', expect.stringContaining('toNodeHandler(handler), and Hono'));
});

it('ignores further arguments: those of Bun, Deno and Next', async () => {
  const { handler, effects } = openShop();
  const serve = handler as (...args: unknown[]) => Promise<Response>;
  for (const second of [{ remoteAddr: {} }, { params: Promise.resolve({}) }, 'server'])
    expect((await serve(post(callback), second, {})).status).toBe(200);
  expect(effects).toEqual([completed]);
});

it.each([
  ['production', 1],
  ['test', 0],
])('without a store remembers statuses in its process, and under NODE_ENV=%s warns %i times', async (mode, times) => {
  vi.stubEnv('NODE_ENV', mode);
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const { fetch } = wire(json(record('completed lookup')), json(record('completed lookup')));
  const handler = createWebhookHandler({ gateway: new GatewayClient({ ...KEYS, fetch }), onPayment });
  expect(warn.mock.calls.filter(([text]) => /a handler without a store/.test(String(text)))).toHaveLength(times);
  const answers = [await handler(post(callback)), await handler(post(callback))];
  expect(await Promise.all(answers.map(answer => answer.text()))).toEqual(['handled', 'handled before']);
});
