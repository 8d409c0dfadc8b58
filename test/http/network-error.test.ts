import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { codeOf, neverLeft, safeCause } from '../../src/http/network-error.ts';

const GATEWAY = 'https://gateway.example/api/v1/payments';

const system = (code: string, syscall?: string) => Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
const fetchFailed = (cause: unknown) => new TypeError('fetch failed', { cause });

/** As Node reports a connection that was refused, or did not come about. */
const connect = (code: string, address: string, port: number | undefined) =>
  Object.assign(new Error(`connect ${code} ${address}:${port}`), { code, syscall: 'connect', address, port });
const lookup = (code: string, hostname: string) => Object.assign(system(code, 'getaddrinfo'), { hostname });

describe('neverLeft', () => {
  const LOCAL = 'http://127.0.0.1:4010/api/v1/payments';

  it.each([
    ['a host that is not found', fetchFailed(lookup('ENOTFOUND', 'gateway.example')), GATEWAY],
    ['a name server that is busy', fetchFailed(lookup('EAI_AGAIN', 'gateway.example')), GATEWAY],
    ['a refused connection to its address', fetchFailed(connect('ECONNREFUSED', '127.0.0.1', 4010)), LOCAL],
    ['an address out of reach', fetchFailed(connect('EHOSTUNREACH', '127.0.0.1', 4010)), LOCAL],
    ['an IPv6 address', fetchFailed(connect('ECONNREFUSED', '2001:db8::1', 443)), 'https://[2001:db8::1]/api'],
    [
      'several connections, all refused',
      fetchFailed(new AggregateError([connect('ECONNREFUSED', '::1', 80), connect('ECONNREFUSED', '127.0.0.1', 80)])),
      'http://localhost/api',
    ],
    [
      'a wrapper that repeats its cause',
      Object.assign(lookup('ENOTFOUND', 'gateway.example'), { cause: lookup('ENOTFOUND', 'gateway.example') }),
      GATEWAY,
    ],
  ])('is sure of %s', (_, error, url) => {
    expect(neverLeft(error, url)).toBe(true);
  });

  it.each([
    ['a reset connection', fetchFailed(system('ECONNRESET', 'read'))],
    ['a broken pipe', fetchFailed(system('EPIPE', 'write'))],
    ['a socket closed by the other side', fetchFailed(system('UND_ERR_SOCKET'))],
    ['headers that took too long', fetchFailed(system('UND_ERR_HEADERS_TIMEOUT'))],
    ['an aborted call', new DOMException('aborted', 'AbortError')],
    ['a TLS alert', fetchFailed(system('ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE'))],
    ['a wrapper that says so in words', new Error('getaddrinfo ENOTFOUND gateway.example')],
    [
      'several failures, one of them a reset',
      fetchFailed(new AggregateError([lookup('ENOTFOUND', 'gateway.example'), system('ECONNRESET', 'read')])),
    ],
    ['several connections that it is not told of', fetchFailed(new AggregateError([]))],
    [
      'several failures, all before it left, after one that was reset',
      fetchFailed(
        Object.assign(new AggregateError([lookup('ENOTFOUND', 'gateway.example')]), {
          cause: system('ECONNRESET', 'read'),
        }),
      ),
    ],
    [
      'a wrapper that calls a reset connection one that was not found',
      Object.assign(lookup('ENOTFOUND', 'gateway.example'), { cause: system('ECONNRESET', 'read') }),
    ],
    ['an empty code', fetchFailed(system(''))],
    ['nothing', undefined],
    ['null', null],
    ['a word', 'ENOTFOUND'],
  ])('doubts %s', (_, error) => {
    expect(neverLeft(error, GATEWAY)).toBe(false);
  });

  // A fetch of the merchant's own may have its answer by then, and fail at an audit log.
  it.each([
    ['a refused connection to an address, which the name may stand for', connect('ECONNREFUSED', '10.0.0.1', 443)],
    ['a refused connection that does not say to where', system('ECONNREFUSED', 'connect')],
    ['a refused connection of some service that has no port', connect('ECONNREFUSED', 'gateway.example', undefined)],
    ['another failure of the gateway', Object.assign(system('ECONNRESET'), { host: 'gateway.example' })],
    ['a unix socket', Object.assign(system('ENOENT', 'connect'), { address: '/run/audit.sock' })],
    ['a name that is not the gateway', lookup('ENOTFOUND', 'audit.example')],
    ['a name that it is not told', system('ENOTFOUND', 'getaddrinfo')],
    ['a certificate that does not say whose', system('DEPTH_ZERO_SELF_SIGNED_CERT')],
    ['a certificate for another name', system('ERR_TLS_CERT_ALTNAME_INVALID')],
    ['a connection that took too long', system('UND_ERR_CONNECT_TIMEOUT')],
    ['a port that fetch refuses', new Error('bad port')],
  ])('doubts what may be another failure: %s', (_, error) => {
    expect(neverLeft(fetchFailed(error), GATEWAY)).toBe(false);
  });

  it.each([
    ['127.0.0.1', true],
    ['::1', true],
    ['127.0.0.2', false],
    ['10.0.0.1', false],
  ])('takes a refused connection to %s for one to localhost: %s', (address, expected) => {
    expect(neverLeft(connect('ECONNREFUSED', address, 80), 'http://localhost/api')).toBe(expected);
  });

  it.each([
    [80, 'http://127.0.0.1/api', true],
    [443, 'http://127.0.0.1/api', false],
    [443, 'https://127.0.0.1/api', true],
    [80, 'https://127.0.0.1/api', false],
    [8080, 'http://127.0.0.1:8080/api', true],
    [80, 'http://127.0.0.1:8080/api', false],
    [80, 'http://127.0.0.2/api', false],
    [80, 'http://localhost/api', true],
    [80, 'http://127.0.0.1.example/api', false],
  ])('takes a refused connection to port %i of 127.0.0.1 for one to %s: %s', (port, url, expected) => {
    expect(neverLeft(connect('ECONNREFUSED', '127.0.0.1', port), url)).toBe(expected);
  });

  it.each([
    [0, true],
    [6, true],
    [7, false],
  ])('reads what %i errors wrap: %s', (wrappers, isRead) => {
    let error: Error = connect('ECONNREFUSED', '127.0.0.1', 4010);
    for (let wrapper = 0; wrapper < wrappers; wrapper++) error = fetchFailed(error);
    expect(neverLeft(error, LOCAL)).toBe(isRead);
    expect(codeOf(error)).toBe(isRead ? 'ECONNREFUSED' : 'fetch_failed');
    expect(inspect(safeCause(error, []), { depth: 10 }).includes('127.0.0.1')).toBe(isRead);
  });

  // Node's documentation: the codes of its X509 certificate errors.
  it.each([
    'CERT_CHAIN_TOO_LONG',
    'CERT_HAS_EXPIRED',
    'CERT_NOT_YET_VALID',
    'CERT_REJECTED',
    'CERT_REVOKED',
    'CERT_SIGNATURE_FAILURE',
    'CERT_UNTRUSTED',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_GET_ISSUER_CERT',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  ])('tells the code and the words of %s', code => {
    const error = fetchFailed(system(code));
    expect(codeOf(error)).toBe(code);
    expect(inspect(safeCause(error, []))).toContain(`undefined ${code}`);
  });

  it('survives causes in a ring', () => {
    const ring = new Error('ring');
    ring.cause = ring;
    expect([neverLeft(ring, GATEWAY), codeOf(ring)]).toEqual([false, 'fetch_failed']);
    expect(safeCause(ring, [])).toBeInstanceOf(Error);
  });
});

describe('codeOf', () => {
  it.each(['ECONNRESET', 'E2BIG', 'ERR_INVALID_URL', 'ERR_HTTP2_ERROR', 'UND_ERR_SOCKET', 'HPE_INVALID_CONSTANT'])(
    'tells %s',
    code => expect(codeOf(system(code))).toBe(code),
  );

  it.each<unknown>([
    '',
    'xECONNRESET',
    'ECONNRESET!',
    'E',
    'Econnreset',
    'E CONN',
    'E_CONN',
    'ERR_',
    'ERR_x',
    'ERR_A b',
    'my_ERR_A',
    42,
    null,
    ['ECONNRESET'],
    { toString: () => 'ECONNRESET' },
  ])('does not tell %j', code => {
    expect(codeOf(Object.assign(new Error('x'), { code }))).toBe('fetch_failed');
  });
});

describe('safeCause', () => {
  it.each([undefined, null, 'words', 7, () => {}])('has none of %s', thrown => {
    expect(safeCause(thrown, [])).toBeUndefined();
  });

  it.each(['fetch failed', 'terminated', 'bad port'])('keeps the words of fetch itself: %s', message => {
    expect(safeCause(new TypeError(message, { cause: null }), [])).toMatchObject({ name: 'TypeError', message });
  });

  it.each([
    ['ECONNRESET', true],
    ['E2BIG', true],
    ['EPROTO', true],
    ['ERR_TLS_HANDSHAKE_TIMEOUT', true],
    ['ERR_SSL_WRONG_VERSION_NUMBER', true],
    ['UND_ERR_SOCKET', true],
    ['HPE_INVALID_CONSTANT', true],
    ['ERR_INVALID_ARG_TYPE', false],
    ['xECONNRESET', false],
    ['ECONNRESET!', false],
    ['E', false],
    ['E_CONN', false],
    ['Econn', false],
    ['ERR_TLS_', false],
    ['ERR_TLS_x', false],
    ['ERR_TLS_A b', false],
    [undefined, false],
  ])('keeps the words of an error with code %s: %s', (code, isKept) => {
    const cause = safeCause(Object.assign(new Error('connect 10.0.0.1'), { code }), []);
    expect(cause?.message).toBe(isKept ? 'connect 10.0.0.1' : '(withheld: it may hold customer data)');
  });

  it('keeps what helps: name, message, code, and the frames of the stack', () => {
    const cause = safeCause(fetchFailed(connect('ECONNREFUSED', '127.0.0.1', 4010)), []);
    expect(cause).toMatchObject({
      name: 'TypeError',
      message: 'fetch failed',
      cause: { message: 'connect ECONNREFUSED 127.0.0.1:4010', code: 'ECONNREFUSED' },
    });
    expect(cause?.stack).toContain('network-error.test.ts');
  });

  it.each([
    ['of system errors, which others', new Error('x'), Error],
    ['of types', new TypeError('x'), Error],
    ['of several', new AggregateError([new Error('y')], 'x'), AggregateError],
    ['of several that it is not told of', new AggregateError([], 'x'), Error],
    ['of ranges', new RangeError('x'), Error],
  ])('makes errors %s are', (_, error, expected) => {
    expect(safeCause(error, [])?.constructor).toBe(expected);
    expect(safeCause(error, [])?.name).toBe(error.name);
  });

  it('has no more than there is', () => {
    const cause = safeCause({ code: 'ECONNRESET', name: 'so much for a name', stack: 'none', port: '443' }, []);
    expect(cause).toMatchObject({ message: '', name: 'Error', stack: 'Error: ', code: 'ECONNRESET' });
    expect(Object.keys(cause ?? {}).toSorted()).toEqual(['code', 'name']);
  });

  it('keeps the code of an error whose words it withholds, and nothing else of it', () => {
    const error = Object.assign(new Error('words'), { code: 'ERR_BAD_RESPONSE', port: 443, address: '10.0.0.1' });
    expect({ ...safeCause(error, []) }).toEqual({ name: 'Error', code: 'ERR_BAD_RESPONSE' });
  });

  it.each([1, 6, 7])('reads %i lists of errors in each other, and no more than six', depth => {
    let error: Error = connect('ECONNREFUSED', '127.0.0.1', 80);
    for (let list = 0; list < depth; list++) error = new AggregateError([error]);
    expect(inspect(safeCause(error, []), { depth: 20 }).includes('127.0.0.1')).toBe(depth < 7);
    expect(neverLeft(error, 'http://localhost/api')).toBe(depth < 7);
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

  it.each(['name', 'stack'])('strikes secrets out of %s, too', detail => {
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

  it.each([
    ['    at fetch (/shop/fetch.js:10:15)', true],
    ['    at /shop/fetch.js:10:15', true],
    ['    at f (node:net:9:1)', true],
    ['    at new Shop$1 (/a.js:1:1)', true],
    ['    at async Promise.all [as #pay] (file:///shop/@own/fetch.js:123:45)', true],
    ['  at fetch (/shop/fetch.js:10:15)', false],
    [' at fetch (/shop/fetch.js:10:15)', false],
    ['x    at fetch (/shop/fetch.js:10:15)', false],
    ['    at fetch (/shop/fetch.js:10:15) zoe', false],
    ['    at fetch (/shop/fetch.js:10:15) (', false],
    ['    at zoe@customer.example (/shop/fetch.js:10:15)', false],
    ['    at fetch (/shop/{"a"}.js:10:15)', false],
    ['    at fetch (/zoe smith.js:10:15)', false],
    ['    at /zoe smith.js:10:15', false],
    ['    at fetch (/shop/fetch.js:10)', false],
    ['    at fetch (/shop/fetch.js:a:15)', false],
    ['    at fetch (/shop/fetch.js:10:a)', false],
    ['    at :10:15', false],
  ])('of a line of the stack, "%s", it keeps all or nothing: %s', (line, isKept) => {
    const error = Object.assign(new Error('x'), { stack: `Error: x\n${line}` });
    const words = 'Error: (withheld: it may hold customer data)';
    expect(safeCause(error, [])?.stack).toBe(isKept ? `${words}\n${line}` : words);
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
