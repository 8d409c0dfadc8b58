// Reads the error of a failed fetch: its code, whether the request can have left, and a cause that is safe to show.

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
 * Returns whether the request provably never left this machine, by the error of the merchant's fetch. All causes, and
 * all connections tried (an AggregateError), must prove it.
 */
export const neverLeft = (error: unknown, url: string): boolean =>
  unlessItThrows(() => innermost(error).every(failure => isUnreached(failure, new URL(url))), false);

/** Lists the innermost errors, because a wrapper may call any failure a refused connection. */
function innermost(error: unknown, depth = 0): Failure[] {
  if (!isFailure(error) || depth > DEEPEST_CAUSE) return [{}];
  const inner = [...membersOf(error), ...(error.cause == null ? [] : [error.cause])];
  return inner.length > 0 ? inner.flatMap(each => innermost(each, depth + 1)) : [error];
}

/**
 * Returns whether the name was unknown or the connection refused, and both were the gateway's. The merchant's fetch may
 * have got an answer, then failed at an audit log or a proxy.
 */
function isUnreached({ syscall, hostname, address, port }: Failure, gateway: URL): boolean {
  // An IPv6 address without its brackets.
  const host = gateway.hostname.replace(/[[\]]/g, '');
  if (syscall === 'getaddrinfo') return hostname === host;
  if (syscall !== 'connect' || port !== Number(gateway.port || (gateway.protocol === 'https:' ? 443 : 80)))
    return false;
  // The addresses of a name are unknown here, except those of `localhost`.
  return address === host || (host === 'localhost' && (address === '127.0.0.1' || address === '::1'));
}

/** Codes of the system, Node, TLS and libraries. Any other text may be anything. */
const CODE = /^[A-Z][A-Z\d]+(?:_[A-Z\d]+)*$/;

/** Returns the first code in the chain of causes, such as `ECONNREFUSED`, or `fetch_failed`. */
export const codeOf = (error: unknown): string => unlessItThrows(() => findCode(error, 0), 'fetch_failed');

function findCode(error: unknown, depth: number): string {
  if (!isFailure(error) || depth > DEEPEST_CAUSE) return 'fetch_failed';
  const { code, cause } = error;
  return typeof code === 'string' && CODE.test(code) ? code : findCode(cause, depth + 1);
}

/** Messages of fetch itself. */
const FETCH_MESSAGE = /^(?:fetch failed|terminated|bad port)$/;

/** Codes whose messages come from the system, TLS or undici and contain no part of a request. */
const SYSTEM_CODE = /^(?:E[A-Z\d]+|(?:ERR_TLS|ERR_SSL|UND_ERR|HPE)_[A-Z\d_]+|[A-Z_]*(?:CERT|VERIFY)[A-Z_]*)$/;

/**
 * Returns a copy of a thrown error for `error.cause`. The merchant's fetch may throw anything, even the whole request.
 * So the copy has only names, codes, stack frames and the messages of system errors. Other messages may contain a
 * customer's data.
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
  const text = String(error.message);
  const code = typeof error.code === 'string' && CODE.test(error.code) ? safe(error.code) : undefined;
  const message = FETCH_MESSAGE.test(text) || (code && SYSTEM_CODE.test(code)) ? safe(text) : WITHHELD;
  const name = /^\w{1,40}$/.test(String(error.name)) ? safe(String(error.name)) : 'Error';
  const members = membersOf(error).map(member => copyOf(member, secrets, depth + 1));
  const copy = members.length > 0 ? new AggregateError(members, message) : new Error(message);
  // Frames only, because a line of the message may look like one.
  const frames = String(error.stack).replace(text, '').match(FRAME) ?? [];
  const stack = safe([`${name}: ${message}`, ...frames].join('\n'));
  const cause = copyOf(error.cause, secrets, depth + 1);
  return Object.assign(copy, { name, stack }, code && { code }, cause && { cause });
}
