// The error of a merchant's own fetch: whether the request can have left, and the parts of the error that are safe to show.
import { inspect } from 'node:util';
import { GatewayClient, type GatewayError } from 'payment-gateway-sdk';
import { describe, expect, it, vi } from 'vitest';
import { CARD, errorOf, KEYS, throwing } from '../support/fixtures.ts';

const LOCAL = 'http://127.0.0.1:4010';

const coded = (message: string, details: object) => Object.assign(new Error(message), details);
const fetchFailed = (cause: unknown) => new TypeError('fetch failed', { cause });
const several = (...errors: unknown[]) => new AggregateError(errors);
const system = (code: string, syscall?: string) => coded(`${syscall} ${code}`, { code, syscall });
const refused = (address: string, port?: number) =>
  coded(`connect ECONNREFUSED ${address}:${port}`, { code: 'ECONNREFUSED', syscall: 'connect', address, port });
const notFound = (hostname: string) => coded('getaddrinfo', { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname });
const RESET = system('ECONNRESET', 'read');
const wrapped = (error: unknown, times: number): unknown => (times ? fetchFailed(wrapped(error, times - 1)) : error);

/** The error of a create whose fetch throws: what left is only inferred, so it is not repeated. */
const failed = async (thrown: unknown, baseUrl: string = KEYS.baseUrl) => {
  const fetch = vi.fn(() => Promise.reject(thrown));
  const error = await errorOf(new GatewayClient({ ...KEYS, baseUrl, fetch, retries: 9 }).createDeposit(CARD));
  expect(fetch).toHaveBeenCalledOnce();
  return error as GatewayError;
};

const hostile = new Proxy({}, { get: throwing(new Error('hands off')) });
const ring = new Error('ring');
ring.cause = ring;

describe('a create', () => {
  it.each<[string, unknown, string?]>([
    ['a host that is not found', fetchFailed(notFound('gateway.example'))],
    ['a refused connection to its address', fetchFailed(refused('127.0.0.1', 4010)), LOCAL],
    ['a refused connection to the usual port', refused('127.0.0.1', 443), 'https://127.0.0.1'],
    ['an IPv6 address', fetchFailed(refused('2001:db8::1', 443)), 'https://[2001:db8::1]'],
    ['the two addresses of localhost', several(refused('::1', 80), refused('127.0.0.1', 80)), 'http://localhost'],
    [
      'a wrapper that repeats its cause',
      Object.assign(notFound('gateway.example'), { cause: notFound('gateway.example') }),
    ],
    ['a cause under six wrappers', wrapped(refused('127.0.0.1', 4010), 6), LOCAL],
  ])('was not sent after %s', async (_, thrown, baseUrl) => {
    const error = await failed(thrown, baseUrl);
    expect(error).toMatchObject({ name: 'ConnectionError', outcome: 'not_sent' });
    expect(error.message).toContain('it is safe to create it again');
  });

  // The merchant's fetch may have got the answer, and failed at an audit log after that.
  it.each<[string, unknown, string?]>([
    ['a reset connection', fetchFailed(RESET)],
    ['a broken pipe', fetchFailed(system('EPIPE', 'write'))],
    ['a closed socket', fetchFailed(system('UND_ERR_SOCKET'))],
    ['a refused connection without a port', refused('gateway.example')],
    ['a refused connection to another port', refused('127.0.0.1', 80), LOCAL],
    ['a refused connection to another address of localhost', refused('127.0.0.2', 80), 'http://localhost'],
    ['a refused connection to localhost', refused('127.0.0.1', 443)],
    ['a reset of its own connection', coded('x', { syscall: 'read', address: '127.0.0.1', port: 4010 }), LOCAL],
    ['a unix socket', coded('x', { code: 'ENOENT', syscall: 'connect', address: '/run/audit.sock' })],
    ['several failures, one of them a reset', several(notFound('gateway.example'), RESET)],
    ['another name', notFound('audit.example')],
    ['a cause under seven wrappers', wrapped(refused('127.0.0.1', 4010), 7), LOCAL],
    ['causes in a ring', ring],
    ['an object that throws when it is read', hostile],
    ['a text', 'ENOTFOUND'],
    ['undefined', undefined],
  ])('has an unknown outcome after %s', async (_, thrown, baseUrl) => {
    expect(await failed(thrown, baseUrl)).toMatchObject({ name: 'ConnectionError', outcome: 'unknown' });
  });
});

const WITHHELD = '(withheld: it may hold customer data)';

it.each<[unknown, string, string]>([
  ['ECONNRESET', 'ECONNRESET', 'words'],
  ['E2BIG', 'E2BIG', 'words'],
  ['ERR_TLS_HANDSHAKE_TIMEOUT', 'ERR_TLS_HANDSHAKE_TIMEOUT', 'words'],
  ['UND_ERR_SOCKET', 'UND_ERR_SOCKET', 'words'],
  ['HPE_INVALID_CONSTANT', 'HPE_INVALID_CONSTANT', 'words'],
  ['CERT_HAS_EXPIRED', 'CERT_HAS_EXPIRED', 'words'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'words'],
  ['ERR_BAD_RESPONSE', 'ERR_BAD_RESPONSE', WITHHELD],
  ...['', 'Econnreset', 'E CONN', 'ERR_', 'my_ERR_A', '{"email":"zoe@customer.example"}', ['EPIPE'], 42, null].map(
    (code): [unknown, string, string] => [code, 'fetch_failed', WITHHELD],
  ),
])('the code %j is reported as %s, with the message: %s', async (code, reported, message) => {
  const error = await failed(coded('words', { code }));
  expect(error).toMatchObject({ code: reported, cause: { message } });
  expect((error.cause as GatewayError).code).toBe(code === reported ? code : undefined);
});

it.each([
  [6, 'ECONNRESET'],
  [7, 'fetch_failed'],
])('a code under %i wrappers is reported as %s, and seven causes are kept', async (times, code) => {
  const error = await failed(wrapped(RESET, times));
  const causes = (of: unknown): number => (of instanceof Error ? 1 + causes(of.cause) : 0);
  expect([error.code, causes(error.cause)]).toEqual([code, 7]);
});

describe('the cause', () => {
  const causeOf = async (thrown: unknown) => (await failed(thrown)).cause as Error | undefined;

  it('keeps names, system messages, codes and frames, and no other property', async () => {
    const cause = await causeOf(
      Object.assign(fetchFailed(refused('127.0.0.1', 4010)), { config: 'zoe@customer.example' }),
    );
    const inner = { message: 'connect ECONNREFUSED 127.0.0.1:4010', code: 'ECONNREFUSED' };
    expect(cause).toMatchObject({ name: 'TypeError', cause: inner });
    expect(cause?.stack).toContain('network-error.test.ts');
    expect(inspect(cause)).not.toContain('zoe@');
    const named = coded('x', { name: 'Zoe zoe@customer.example', stack: undefined });
    expect(await causeOf(named)).toMatchObject({ name: 'Error', stack: `Error: ${WITHHELD}` });
    const unreadable = Object.defineProperty({}, 'message', { get: throwing(ring) });
    expect(await failed(unreadable)).toMatchObject({ code: 'fetch_failed', outcome: 'unknown' });
  });

  it.each([undefined, null, 'words', () => {}])('is absent for %s', async thrown => {
    expect(await causeOf(thrown)).toBeUndefined();
  });

  it('keeps the frames of a stack, and no line that could hold data', async () => {
    const FRAMES = [
      '    at fetch (/shop/fetch.js:10:15)',
      '    at node:net:1:2',
      '    at async Shop.<anonymous> [as #pay] (file:///shop/@own/fetch.js:123:45)',
    ];
    const OTHERS = [
      '  at fetch (/shop/fetch.js:10:15)',
      '    at fetch (/shop/fetch.js:10:15) zoe',
      '    at zoe@customer.example (/shop/fetch.js:10:15)',
      '    at fetch (/shop/{"a"}.js:10:15)',
      '    at fetch (/zoe smith.js:10:15)',
      '    at fetch (/shop/fetch.js:10)',
    ];
    const stack = ['Error: x', ...FRAMES, ...OTHERS].join('\n');
    expect((await causeOf(Object.assign(new Error('x'), { stack })))?.stack).toBe(
      [`Error: ${WITHHELD}`, ...FRAMES].join('\n'),
    );
    const message = 'x\n    at zoe@customer.example (/a.js:1:1)';
    expect(inspect(await causeOf(new Error(message)))).not.toContain('zoe@');
  });

  it.each([
    ['message', `Bearer ${KEYS.apiKey}`],
    ['stack', `x\n    at pay (/shop/${KEYS.apiKey}.js:10:5)`],
  ])('hides a key in its %s', async (detail, text) => {
    const shown = inspect(await causeOf(coded('x', { code: 'ECONNRESET', [detail]: text })));
    expect(shown).toContain('[redacted]');
    expect(shown).not.toContain(KEYS.apiKey);
  });
});
