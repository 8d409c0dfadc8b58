// Reads the error of a failed attempt: its code, a cause that is safe to show, and whether the request can have left.
import { LateError } from '../deadline.ts';

/** The end of an attempt without a complete answer. */
export interface Failure {
  /** `timeout`, `aborted`, the system's code such as `ECONNREFUSED`, or `fetch_failed`. */
  code: string;
  /** Safe to show. */
  cause?: Error | undefined;
}

/** Causes to read, at most: they may form a ring. */
const DEEPEST_CAUSE = 6;

/** Whether all causes of a fetch's error, and all connections tried (an AggregateError), prove that nothing left. */
export const neverLeft = (error: unknown, url: string): boolean =>
  innermost(error).every(each => isUnreached(each, new URL(url)));

/** Lists the innermost errors, because a wrapper may call any failure a refused connection. */
function innermost(error: unknown, depth = 0): unknown[] {
  if (depth > DEEPEST_CAUSE) return [undefined];
  const { cause, errors = [] } = Object(error);
  const inner = [...(Array.isArray(errors) ? errors : [errors]), ...(cause == null ? [] : [cause])];
  return inner.length > 0 ? inner.flatMap(each => innermost(each, depth + 1)) : [error];
}

/**
 * Returns whether the name was unknown or the connection refused, and both were the gateway's. The merchant's fetch may
 * have got an answer, then failed at an audit log or a proxy.
 */
function isUnreached(error: unknown, gateway: URL): boolean {
  const { syscall, hostname, address, port } = Object(error);
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

/** Codes whose messages come from the system, TLS or undici and contain no part of a request. */
const SYSTEM_CODE = /^(?:E[A-Z\d]+|(?:ERR_TLS|ERR_SSL|UND_ERR|HPE)_[A-Z\d_]+|[A-Z_]*(?:CERT|VERIFY)[A-Z_]*)$/;

/** A function's name, and a place without a space, to keep out sentences, addresses and JSON. */
const FRAME = /^ {4}at (?:[\w$.<>#[\] ]+ \()?[^\s"'(){}]+:\d+:\d+\)?$/gm;

/**
 * Returns the first code in the chain of causes, and a copy of the chain that is safe to show. The merchant's fetch may
 * throw anything, even the whole request, so a copy has only names, codes, frames and the messages of system errors.
 *
 * @param secrets replaced in every text
 */
export function failureOf(error: unknown, secrets: readonly string[], depth = 0): Failure {
  if (error instanceof LateError) return { code: 'timeout' };
  if (typeof error !== 'object' || !error || depth > DEEPEST_CAUSE) return { code: 'fetch_failed' };
  const thrown = error as Record<string, unknown>;
  const safe = (text: string) => secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '[redacted]'), text);
  const text = String(thrown.message);
  const code = typeof thrown.code === 'string' && CODE.test(thrown.code) ? safe(thrown.code) : undefined;
  const message = code && SYSTEM_CODE.test(code) ? safe(text) : '(withheld: it may hold customer data)';
  const name = /^\w{1,40}$/.test(String(thrown.name)) ? safe(String(thrown.name)) : 'Error';
  // Frames only, because a line of the message may look like one.
  const frames = String(thrown.stack).replace(text, '').match(FRAME) ?? [];
  const stack = safe([`${name}: ${message}`, ...frames].join('\n'));
  const inner = failureOf(thrown.cause, secrets, depth + 1);
  const details = { name, stack, ...(code && { code }), ...(inner.cause && { cause: inner.cause }) };
  return { code: code ?? inner.code, cause: Object.assign(new Error(message), details) };
}
