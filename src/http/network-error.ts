// Reads the error of a failed fetch: its code, whether the request can have left, and a cause that is safe to show.

/** Node's X509 error codes for a refused server certificate. */
const CERTIFICATE_CODES: ReadonlySet<unknown> = new Set(
  `CERT_CHAIN_TOO_LONG CERT_HAS_EXPIRED CERT_NOT_YET_VALID CERT_REJECTED CERT_REVOKED CERT_SIGNATURE_FAILURE
   CERT_UNTRUSTED DEPTH_ZERO_SELF_SIGNED_CERT ERR_TLS_CERT_ALTNAME_INVALID HOSTNAME_MISMATCH INVALID_CA INVALID_PURPOSE
   PATH_LENGTH_EXCEEDED SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY
   UNABLE_TO_VERIFY_LEAF_SIGNATURE`.split(/\s+/),
);

/** Causes to read, at most: they may form a ring. */
const DEEPEST_CAUSE = 6;

type Failure = Record<string, unknown>;

const isFailure = (value: unknown): value is Failure => typeof value === 'object' && value !== null;
const membersOf = ({ errors }: Failure): unknown[] => (Array.isArray(errors) ? errors : []);

/** Reads a part of an error, because a hostile error may throw when it is read. */
function unlessItThrows<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/**
 * Returns whether the request provably never left this machine, by the error of the merchant's fetch. After an error
 * outside this allow list it may have left. All causes, and all connections tried (an AggregateError), must prove it.
 */
export const neverLeft = (error: unknown, url: string): boolean =>
  unlessItThrows(() => hasNeverLeft(error, placeOf(new URL(url)), 0), false);

interface Place {
  host: string;
  port: number;
}

const placeOf = ({ hostname, port, protocol }: URL): Place => ({
  // An IPv6 address without its brackets.
  host: hostname.replace(/[[\]]/g, ''),
  port: Number(port || (protocol === 'https:' ? 443 : 80)),
});

/** Returns whether a wrapper names another host or port: it failed there, despite its cause. */
const isElsewhere = ({ port, hostname }: Failure, gateway: Place): boolean =>
  (typeof port === 'number' && port !== gateway.port) || (typeof hostname === 'string' && hostname !== gateway.host);

function hasNeverLeft(error: unknown, gateway: Place, depth: number): boolean {
  if (!isFailure(error) || depth > DEEPEST_CAUSE || isElsewhere(error, gateway)) return false;
  // The wrapped errors decide: a wrapper may call any failure a refused connection.
  const inner = [...membersOf(error), ...(error.cause == null ? [] : [error.cause])];
  return inner.length > 0 ? inner.every(each => hasNeverLeft(each, gateway, depth + 1)) : isUnreached(error, gateway);
}

/**
 * Returns whether the gateway itself was not reached. The merchant's fetch may have got an answer, then failed at an
 * audit log or a proxy. So only an error that names the gateway counts.
 */
function isUnreached({ code, syscall, host, hostname, address, port, message }: Failure, gateway: Place): boolean {
  if (syscall === 'getaddrinfo') return hostname === gateway.host;
  if (syscall === 'connect') return port === gateway.port && isAddressOf(gateway, address);
  // undici reports the host's name, or its addresses.
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return String(message).includes(`attempted address: ${gateway.host}:${gateway.port},`);
  return code === 'ERR_TLS_CERT_ALTNAME_INVALID' && host === gateway.host;
}

/** The addresses of a name are unknown here, except those of `localhost`. */
const isAddressOf = ({ host }: Place, address: unknown): boolean =>
  address === host || (host === 'localhost' && (address === '127.0.0.1' || address === '::1'));

/** Codes of the system, Node, its HTTP parser and undici. Any other text may be anything. */
const CODE = /^(?:E[A-Z\d]+|(?:ERR|UND_ERR|HPE)_[A-Z\d_]+)$/;

const isCode = (value: unknown): value is string =>
  typeof value === 'string' && (CODE.test(value) || CERTIFICATE_CODES.has(value));

/** Returns the first code in the chain of causes, such as `ECONNREFUSED`, or `fetch_failed`. */
export const codeOf = (error: unknown): string => unlessItThrows(() => findCode(error, 0), 'fetch_failed');

function findCode(error: unknown, depth: number): string {
  if (!isFailure(error) || depth > DEEPEST_CAUSE) return 'fetch_failed';
  return isCode(error.code) ? error.code : findCode(error.cause, depth + 1);
}

/** Messages of fetch itself. */
const FETCH_MESSAGES: ReadonlySet<unknown> = new Set(['fetch failed', 'terminated', 'bad port']);

/** Codes whose messages come from the system, TLS or undici and contain no part of a request. */
const SYSTEM_CODE = /^(?:E[A-Z\d]+|(?:ERR_TLS|ERR_SSL|UND_ERR|HPE)_[A-Z\d_]+)$/;

/**
 * Returns a copy of a thrown error for `error.cause`. The merchant's fetch may throw anything, even the whole request.
 * So the copy has only names, codes, stack frames, and the messages and details of system errors. Other messages may
 * contain a customer's data.
 *
 * @param secrets replaced in every text
 */
export const safeCause = (error: unknown, secrets: readonly string[]): Error | undefined =>
  unlessItThrows(() => copyOf(error, secrets, 0), new Error(WITHHELD));

/** A function's name, and a place without a space, to keep out sentences, addresses and JSON. */
const FRAME = /^ {4}at (?:[\w$.<>#[\] ]+ \()?[^\s"'(){}]+:\d+:\d+\)?$/gm;

const WITHHELD = '(withheld: it may hold customer data)';

function copyOf(error: unknown, secrets: readonly string[], depth: number): Error | undefined {
  if (!isFailure(error) || depth > DEEPEST_CAUSE) return undefined;
  const safe = (text: string) => secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '[redacted]'), text);
  const text = String(error.message ?? '');
  const isSystem = SYSTEM_CODE.test(String(error.code)) || CERTIFICATE_CODES.has(error.code);
  const message = isSystem || FETCH_MESSAGES.has(text) ? safe(text) : WITHHELD;
  const name = /^\w{1,40}$/.test(String(error.name)) ? safe(String(error.name)) : 'Error';
  const members = membersOf(error).map(member => copyOf(member, secrets, depth + 1));
  const copy =
    members.length > 0
      ? new AggregateError(members, message)
      : name === 'TypeError'
        ? new TypeError(message)
        : new Error(message);
  // Frames only, because a line of the message may look like one.
  const frames = String(error.stack).replace(text, '').match(FRAME) ?? [];
  Object.assign(copy, { name, stack: safe([`${name}: ${message}`, ...frames].join('\n')) });
  for (const detail of isSystem ? ['code', 'syscall', 'hostname', 'address', 'port'] : ['code']) {
    const value = error[detail];
    if (detail === 'code' ? isCode(value) : typeof value === 'string' || typeof value === 'number') {
      Object.assign(copy, { [detail]: typeof value === 'string' ? safe(value) : value });
    }
  }
  const cause = copyOf(error.cause, secrets, depth + 1);
  if (cause) copy.cause = cause;
  return copy;
}
