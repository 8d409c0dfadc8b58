// An error tree counts as never sent only if each of its leaves is on the list.
// @module-tag long
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { neverLeft } from '../../src/http/network-error.ts';
import { tries, word } from './arbitraries.ts';

const HOST = '203.0.113.7';
const GATEWAY = `https://${HOST}/api/v1/payments`;

interface Node {
  /** Of a leaf, whether it is on the list. */
  isListed?: boolean;
  inner: Node[];
  error: unknown;
}

const coded = (message: string, details: object) => Object.assign(new Error(message), details);
const leaf =
  (isListed: boolean) =>
  (error: unknown): Node => ({ isListed, inner: [], error });

// Node's own documents: what is said before the first byte of a request can leave, and names the gateway.
const listed = fc
  .oneof(
    fc
      .constantFrom('ENOTFOUND', 'EAI_AGAIN', 'ENODATA')
      .map(code => coded('getaddrinfo', { syscall: 'getaddrinfo', code, hostname: HOST })),
    fc
      .constantFrom('ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH')
      .map(code => coded('connect', { syscall: 'connect', code, address: HOST, port: 443 })),
  )
  .map(leaf(true));

const unlisted = fc
  .oneof(
    fc
      .tuple(
        fc.constantFrom('read', 'write', undefined),
        fc.constantFrom('ECONNRESET', 'EPIPE', 'ECONNREFUSED', 'ETIMEDOUT', 'ECONNABORTED'),
      )
      .map(([syscall, code]) => coded('connect ECONNREFUSED', { syscall, code })),
    word('UND_ERR_SOCKET UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT UND_ERR_CONNECT_TIMEOUT').map(code =>
      coded('no', { code }),
    ),
    word('HPE_INVALID_CONSTANT ERR_SSL_WRONG_VERSION_NUMBER DEPTH_ZERO_SELF_SIGNED_CERT').map(code =>
      coded('no', { code }),
    ),
    // A database of the merchant's, which a wrapper of fetch may write to: nothing was written there, or nobody knows.
    fc
      .oneof(
        word('28P01 3D000 3F000 42P01 ER_ACCESS_DENIED_ERROR ER_BAD_DB_ERROR ER_NO_SUCH_TABLE'),
        fc.stringMatching(/^(?:08|40|53|57)[0-9A-Z]{3}$/),
        fc.stringMatching(/^(?:E|ERR_|UND_ERR_|HPE_)[A-Z]{3,12}$/),
      )
      .map(code => coded('the connection was refused', { code })),
    // It failed at something else, after the gateway had answered.
    fc
      .constantFrom<object>(
        { syscall: 'connect', address: HOST, port: 4318 },
        { syscall: 'connect', address: '203.0.113.8', port: 443 },
        { syscall: 'connect', address: '/run/audit.sock' },
        { syscall: 'connect' },
        { syscall: 'getaddrinfo', hostname: 'audit.example' },
        { syscall: 'getaddrinfo' },
        { code: 'ERR_TLS_CERT_ALTNAME_INVALID', host: 'audit.example' },
      )
      .map(other => coded('no', { code: 'ECONNREFUSED', ...other })),
    fc.string().map(text => new Error(text)),
    fc.constantFrom<unknown>(0, false, 'ECONNREFUSED', 'bad port', Symbol('connect'), {}, [], () => {}, new Error('x')),
  )
  .map(leaf(false));

/** What wraps errors says nothing itself, or says what its cause should. */
const wrappers = fc.constantFrom<object>(
  {},
  { code: 'ERR_WRAPPER' },
  { code: 'ECONNREFUSED', syscall: 'connect' },
  { code: 'CERT_HAS_EXPIRED' },
);

const { tree } = fc.letrec<{ tree: Node }>(tie => ({
  tree: fc.oneof(
    { maxDepth: 4, depthSize: 'max' },
    fc.oneof({ arbitrary: listed, weight: 5 }, { arbitrary: unlisted, weight: 1 }),
    fc.tuple(tie('tree'), wrappers).map(
      ([inner, details]): Node => ({
        inner: [inner],
        error: withDetails(new TypeError('fetch failed', { cause: inner.error }), details),
      }),
    ),
    fc.tuple(fc.array(tie('tree'), { minLength: 1, maxLength: 3 }), wrappers).map(([inner, details]): Node => {
      return { inner, error: withDetails(new AggregateError(inner.map(({ error }) => error)), details) };
    }),
    fc.tuple(fc.array(tie('tree'), { minLength: 1, maxLength: 2 }), tie('tree')).map(([inner, cause]): Node => {
      return {
        inner: [...inner, cause],
        error: new AggregateError(
          inner.map(({ error }) => error),
          'all failed',
          { cause: cause.error },
        ),
      };
    }),
  ),
}));

const withDetails = (error: Error, details: object) => Object.assign(error, details);

const allListed = (node: Node): boolean => node.isListed ?? node.inner.every(allListed);

it('no error tree with an unlisted leaf counts as never sent, and one of listed leaves alone does', () => {
  const seen = { listed: 0, unlisted: 0 };
  fc.assert(
    fc.property(tree, node => {
      const expected = allListed(node);
      seen[expected ? 'listed' : 'unlisted'] += node.inner.length > 0 ? 1 : 0;
      expect(neverLeft(node.error, GATEWAY)).toBe(expected);
    }),
    tries(400),
  );
  expect(Math.min(seen.listed, seen.unlisted)).toBeGreaterThan(100);
});
