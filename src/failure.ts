// Reads what a failed fetch throws: its code, whether the request can have left, and a cause that is safe to show.

/** Verdicts on the server's certificate, reached before the first byte of the request (Node's X509 error codes). */
const CERTIFICATE_CODES: ReadonlySet<unknown> = new Set([
  'CERT_CHAIN_TOO_LONG',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REJECTED',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Causes may form a ring: nobody needs more of them than this. */
const DEEPEST_CAUSE = 6;

type Failure = Record<string, unknown>;

const isFailure = (value: unknown): value is Failure => typeof value === 'object' && value !== null;
const membersOf = ({ errors }: Failure): unknown[] => (Array.isArray(errors) ? errors : []);

/**
 * Whether the request provably never left this machine. An allow list: whatever it does not name may have left.
 * Of several connections tried (an AggregateError), every one must have failed so.
 */
export function neverLeft(error: unknown, depth = 0): boolean {
  if (!isFailure(error) || depth > DEEPEST_CAUSE) return false;
  const members = membersOf(error);
  if (members.length > 0) return members.every(member => neverLeft(member, depth + 1));
  return (
    error.syscall === 'connect' ||
    error.syscall === 'getaddrinfo' ||
    error.code === 'UND_ERR_CONNECT_TIMEOUT' ||
    CERTIFICATE_CODES.has(error.code) ||
    // undici's word on a port that fetch refuses, such as 6000.
    error.message === 'bad port' ||
    neverLeft(error.cause, depth + 1)
  );
}

/** The first code on the way down the causes, such as `ECONNREFUSED`. */
export function codeOf(error: unknown, depth = 0): string {
  if (!isFailure(error) || depth > DEEPEST_CAUSE) return 'fetch_failed';
  return typeof error.code === 'string' ? error.code : codeOf(error.cause, depth + 1);
}

/** Words of fetch itself. */
const FETCH_WORDS: ReadonlySet<unknown> = new Set(['fetch failed', 'terminated', 'bad port']);

/**
 * A copy of what was thrown, for `error.cause`. A merchant's own fetch may throw anything, request and all. So only
 * names, stack frames and the system's details are copied, and the words of coded errors with secrets struck out:
 * what other errors say may hold a customer's data.
 */
export function safeCause(error: unknown, secrets: readonly string[], depth = 0): Error | undefined {
  if (!isFailure(error) || depth > DEEPEST_CAUSE) return undefined;
  const safe = (text: unknown) =>
    secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '[redacted]'), String(text ?? ''));
  const speaks = typeof error.code === 'string' || FETCH_WORDS.has(error.message);
  const message = speaks ? safe(error.message) : '(withheld: it may hold customer data)';
  const members = membersOf(error).map(member => safeCause(member, secrets, depth + 1));
  const name = safe(error.name) || 'Error';
  const copy =
    members.length > 0
      ? new AggregateError(members, message)
      : name === 'TypeError'
        ? new TypeError(message)
        : new Error(message);
  const frames = String(error.stack).match(/^ {4}at .*$/gm) ?? [];
  Object.assign(copy, { name, stack: [`${name}: ${message}`, ...frames.map(safe)].join('\n') });
  for (const detail of ['code', 'syscall', 'hostname', 'address', 'port']) {
    const value = error[detail];
    if (typeof value === 'string') Object.assign(copy, { [detail]: safe(value) });
    if (typeof value === 'number') Object.assign(copy, { [detail]: value });
  }
  const cause = safeCause(error.cause, secrets, depth + 1);
  if (cause) copy.cause = cause;
  return copy;
}
