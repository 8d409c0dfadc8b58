import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { codeOf, neverLeft, safeCause } from '../../src/http/network-error.ts';

const GATEWAY = 'https://gateway.example/api/v1/payments';

const system = (code: string, syscall?: string) => Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
const fetchFailed = (cause: unknown) => new TypeError('fetch failed', { cause });

describe('neverLeft', () => {
  it.each([
    ['a refused connection', fetchFailed(system('ECONNREFUSED', 'connect'))],
    ['a host that is not found', fetchFailed(system('ENOTFOUND', 'getaddrinfo'))],
    ['a name server that is busy', fetchFailed(system('EAI_AGAIN', 'getaddrinfo'))],
    ['a host out of reach', fetchFailed(system('EHOSTUNREACH', 'connect'))],
    ['a connection that took too long', fetchFailed(system('UND_ERR_CONNECT_TIMEOUT'))],
    ['a certificate that has expired', fetchFailed(system('CERT_HAS_EXPIRED'))],
    ['a certificate for another name', fetchFailed(system('ERR_TLS_CERT_ALTNAME_INVALID'))],
    ['a port that fetch refuses', fetchFailed(new Error('bad port'))],
    [
      'a wrapper that repeats its cause',
      Object.assign(system('ECONNREFUSED', 'connect'), { cause: system('ECONNREFUSED', 'connect') }),
    ],
    ["the gateway's own port", fetchFailed(Object.assign(system('ECONNREFUSED', 'connect'), { port: 443 }))],
    [
      "the gateway's own name",
      fetchFailed(Object.assign(system('ENOTFOUND', 'getaddrinfo'), { hostname: 'gateway.example' })),
    ],
    [
      'several connections, all refused',
      fetchFailed(new AggregateError([system('ECONNREFUSED', 'connect'), system('EHOSTUNREACH', 'connect')])),
    ],
  ])('is sure of %s', (_, error) => {
    expect(neverLeft(error, GATEWAY)).toBe(true);
  });

  it.each([
    ['a reset connection', fetchFailed(system('ECONNRESET', 'read'))],
    ['a broken pipe', fetchFailed(system('EPIPE', 'write'))],
    ['a socket closed by the other side', fetchFailed(system('UND_ERR_SOCKET'))],
    ['headers that took too long', fetchFailed(system('UND_ERR_HEADERS_TIMEOUT'))],
    ['an aborted call', new DOMException('aborted', 'AbortError')],
    ['a TLS alert', fetchFailed(system('ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE'))],
    ['a wrapper that says so in words', new Error('connect ECONNREFUSED')],
    [
      'several connections, one of them reset',
      fetchFailed(new AggregateError([system('ECONNREFUSED', 'connect'), system('ECONNRESET', 'read')])),
    ],
    ['several connections that it is not told of', fetchFailed(new AggregateError([]))],
    [
      'a wrapper that failed at something else',
      fetchFailed(Object.assign(system('ECONNREFUSED', 'connect'), { port: 4318 })),
    ],
    [
      'a name that is not the gateway',
      fetchFailed(Object.assign(system('ENOTFOUND', 'getaddrinfo'), { hostname: 'telemetry.example' })),
    ],
    [
      'several connections, all refused, after one that was reset',
      fetchFailed(
        Object.assign(new AggregateError([system('ECONNREFUSED', 'connect')]), { cause: system('ECONNRESET', 'read') }),
      ),
    ],
    [
      'a wrapper that calls a reset connection refused',
      Object.assign(system('ECONNREFUSED', 'connect'), { cause: system('ECONNRESET', 'read') }),
    ],
    [
      'a wrapper that failed at something else, with a cause that does not say at what',
      Object.assign(system('ECONNREFUSED', 'connect'), { port: 4318, cause: system('ECONNREFUSED', 'connect') }),
    ],
    ['nothing', undefined],
    ['a word', 'ECONNREFUSED'],
  ])('doubts %s', (_, error) => {
    expect(neverLeft(error, GATEWAY)).toBe(false);
  });

  it('survives causes in a ring', () => {
    const ring = new Error('ring');
    ring.cause = ring;
    expect([neverLeft(ring, GATEWAY), codeOf(ring)]).toEqual([false, 'fetch_failed']);
    expect(safeCause(ring, [])).toBeInstanceOf(Error);
  });
});

describe('safeCause', () => {
  it('keeps what helps: name, message, code, system call, address, and the frames of the stack', () => {
    const cause = safeCause(
      fetchFailed(Object.assign(system('ECONNREFUSED', 'connect'), { address: '127.0.0.1', port: 4010 })),
      [],
    );
    expect(cause).toMatchObject({
      name: 'TypeError',
      message: 'fetch failed',
      cause: {
        message: 'connect ECONNREFUSED',
        code: 'ECONNREFUSED',
        syscall: 'connect',
        address: '127.0.0.1',
        port: 4010,
      },
    });
    expect(cause?.stack).toContain('network-error.test.ts');
  });

  it('drops what a wrapper hung onto its error, and what it says without a code', () => {
    const error = Object.assign(new Error('no payout to zoe@customer.example'), {
      config: { headers: { Authorization: 'Bearer s3cr3t' } },
      request: { body: 'zoe@customer.example' },
    });
    expect(safeCause(error, ['s3cr3t'])).toMatchObject({ message: '(withheld: it may hold customer data)' });
    expect(Object.keys(safeCause(error, []) ?? {})).toEqual(['name']);
  });

  it('strikes secrets even out of the words of the system', () => {
    const error = new AggregateError([system('EINVAL', 'Bearer s3cr3t')], 'x');
    expect(safeCause(error, ['s3cr3t'])).toMatchObject({ errors: [{ message: 'Bearer [redacted] EINVAL' }] });
  });

  it.each(['syscall', 'hostname', 'address', 'port', 'name', 'stack'])('strikes secrets out of %s, too', detail => {
    const error = Object.assign(system('ECONNRESET', 'read'), { [detail]: 's3cr3t' });
    if (detail === 'stack') error.stack = 'Error: x\n    at s3cr3t (/shop/s3cr3t.js:10:5)';
    expect(inspect(safeCause(error, ['s3cr3t']))).not.toContain('s3cr3t');
    expect(inspect(safeCause(error, ['s3cr3t']))).toContain('[redacted]');
  });

  it.each([
    ['a code made of what was sent', { code: 'E_Bearer s3cr3t' }, 'fetch_failed'],
    ['a code made of a body', { code: '{"email":"zoe@customer.example"}' }, 'fetch_failed'],
    [
      'a code of a library',
      { code: 'ERR_BAD_RESPONSE', message: 'bad answer: zoe@customer.example' },
      'ERR_BAD_RESPONSE',
    ],
    ['a name made of data', { name: 'zoe@customer.example' }, 'fetch_failed'],
    ['words that look like a stack frame', { message: 'x\n    at zoe@customer.example (/a.js:1:1)' }, 'fetch_failed'],
    ['details on an error of no system', { syscall: 'zoe@customer.example', hostname: 's3cr3t' }, 'fetch_failed'],
  ])('shows nothing of %s', (_, properties, code) => {
    const error = Object.assign(new Error('words'), properties);
    error.stack = `Error: ${error.message}\n    at fetch (/shop/fetch.js:10:5)`;
    const cause = safeCause(error, ['s3cr3t']);
    expect(codeOf(error)).toBe(code);
    const shown = `${cause?.stack} ${JSON.stringify({ ...cause })} ${cause?.message} ${cause?.name}`;
    expect(shown).not.toMatch(/zoe@|s3cr3t/);
    expect(shown).toContain('/shop/fetch.js:10:5');
  });

  it('shows nothing of a stack that keeps the words of a message which was changed', () => {
    const error = new Error('short');
    const words = '{"email":"zoe@customer.example"}';
    error.stack = `Error: x\n    at ${words} (/a.js:1:1)\n    at zoe@customer.example (/a.js:1:1)\n    at f (/${words}.js:1:1)`;
    error.stack += `\n    at async Shop.<anonymous> [as pay] (file:///shop/@own/fetch.js:10:5)\n    at node:net:1:2`;
    expect(safeCause(error, [])?.stack).toBe(
      'Error: (withheld: it may hold customer data)\n    at async Shop.<anonymous> [as pay] (file:///shop/@own/fetch.js:10:5)\n    at node:net:1:2',
    );
  });

  it('survives an error that throws from whatever is read of it', () => {
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error('hands off');
        },
        has: () => {
          throw new Error('hands off');
        },
      },
    );
    expect([neverLeft(hostile, GATEWAY), codeOf(hostile), safeCause(hostile, [])?.message]).toEqual([
      false,
      'fetch_failed',
      '(withheld: it may hold customer data)',
    ]);
  });
});
