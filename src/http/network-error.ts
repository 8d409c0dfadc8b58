// Reads the error of a failed fetch: its code, whether the request can have left, and a cause that is safe to show.

/** The server's certificate was refused (Node's X509 error codes). */
const CERTIFICATE_CODES: ReadonlySet<unknown> = new Set(
  `CERT_CHAIN_TOO_LONG CERT_HAS_EXPIRED CERT_NOT_YET_VALID CERT_REJECTED CERT_REVOKED CERT_SIGNATURE_FAILURE
   CERT_UNTRUSTED DEPTH_ZERO_SELF_SIGNED_CERT ERR_TLS_CERT_ALTNAME_INVALID HOSTNAME_MISMATCH INVALID_CA INVALID_PURPOSE
   PATH_LENGTH_EXCEEDED SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY
   UNABLE_TO_VERIFY_LEAF_SIGNATURE`.split(/\s+/),
);

/** Causes may form a ring: no more of them than this are read. */
const DEEPEST_CAUSE = 6;

type Failure = Record<string, unknown>;

const isFailure = (value: unknown): value is Failure => typeof value === 'object' && value !== null;
const membersOf = ({ errors }: Failure): unknown[] => (Array.isArray(errors) ? errors : []);

/** A hostile error may throw when it is read. */
function unlessItThrows<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/**
 * Whether the request provably never left this machine, by what a fetch of the merchant's own has thrown. An allow list: after any
 * other error it may have left. Of several connections tried (an AggregateError), and of all causes, every one must have failed so.
 */
export const neverLeft = (error: unknown, url: string): boolean =>
  unlessItThrows(() => hasNeverLeft(error, placeOf(new URL(url)), 0), false);

/** Where the gateway is. */
interface Place {
  host: string;
  port: number;
}

const placeOf = ({ hostname, port, protocol }: URL): Place => ({
  // An IPv6 address without its brackets.
  host: hostname.replace(/[[\]]/g, ''),
  port: Number(port || (protocol === 'https:' ? 443 : 80)),
});

/** A wrapper that says so itself failed at something else, whatever its cause is. */
const isElsewhere = ({ port, hostname }: Failure, gateway: Place): boolean =>
  (typeof port === 'number' && port !== gateway.port) || (typeof hostname === 'string' && hostname !== gateway.host);

function hasNeverLeft(error: unknown, gateway: Place, depth: number): boolean {
  if (!isFailure(error) || depth > DEEPEST_CAUSE || isElsewhere(error, gateway)) return false;
  // What an error wraps decides: a wrapper may call anything a refused connection.
  const inner = [...membersOf(error), ...(error.cause == null ? [] : [error.cause])];
  return inner.length > 0 ? inner.every(each => hasNeverLeft(each, gateway, depth + 1)) : isUnreached(error, gateway);
}

/**
 * Whether it was the gateway itself that was not reached. A merchant's own fetch may have had its answer, and failed at an audit
 * log or a proxy after that: an error that does not name the gateway says nothing.
 */
function isUnreached({ code, syscall, host, hostname, address, port, message }: Failure, gateway: Place): boolean {
  if (syscall === 'getaddrinfo') return hostname === gateway.host;
  if (syscall === 'connect') return port === gateway.port && isAddressOf(gateway, address);
  // undici tells the name, or the addresses that it stands for.
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return String(message).includes(`attempted address: ${gateway.host}:${gateway.port},`);
  return code === 'ERR_TLS_CERT_ALTNAME_INVALID' && host === gateway.host;
}

/** Of a name nobody knows here which addresses it has. */
const isAddressOf = ({ host }: Place, address: unknown): boolean =>
  address === host || (host === 'localhost' && (address === '127.0.0.1' || address === '::1'));

/** Codes of the system, of Node, of its HTTP parser and of undici. Any other text may be anything. */
const CODE = /^(?:E[A-Z\d]+|(?:ERR|UND_ERR|HPE)_[A-Z\d_]+)$/;

const isCode = (value: unknown): value is string =>
  typeof value === 'string' && (CODE.test(value) || CERTIFICATE_CODES.has(value));

/** The first code on the way down the causes, such as `ECONNREFUSED`; else `fetch_failed`. */
export const codeOf = (error: unknown): string => unlessItThrows(() => findCode(error, 0), 'fetch_failed');

function findCode(error: unknown, depth: number): string {
  if (!isFailure(error) || depth > DEEPEST_CAUSE) return 'fetch_failed';
  return isCode(error.code) ? error.code : findCode(error.cause, depth + 1);
}

/** Messages of fetch itself. */
const FETCH_MESSAGES: ReadonlySet<unknown> = new Set(['fetch failed', 'terminated', 'bad port']);

/** Codes whose messages come from the system, TLS or undici, and hold nothing of a request. */
const SYSTEM_CODE = /^(?:E[A-Z\d]+|(?:ERR_TLS|ERR_SSL|UND_ERR|HPE)_[A-Z\d_]+)$/;

/**
 * A copy of what was thrown, for `error.cause`. A merchant's own fetch may throw anything, also the whole request. So only
 * names, codes, stack frames and the system's details are copied, and the messages of system errors: those of other errors
 * may hold a customer's data.
 *
 * @param secrets replaced even there
 */
export const safeCause = (error: unknown, secrets: readonly string[]): Error | undefined =>
  unlessItThrows(() => copyOf(error, secrets, 0), new Error(WITHHELD));

/** A function's name, and a place without a space: no sentence, no address and no JSON. */
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
  // Frames only: a line of the message may look like one.
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
