// Reads the error of an attempt: its code, a safe cause, and whether the request can have left.
import { LateError } from '../deadline.ts';

/** The end of an attempt without a complete answer. */
export interface Failure {
  /** The code of a ConnectionError. */
  code: string;
  /** Safe to show. */
  cause?: Error | undefined;
}

/** Causes may form a ring. */
const DEEPEST_CAUSE = 6;

/** Whether all causes and tried connections (an AggregateError) of a fetch's error prove that nothing left. */
export const neverLeft = (error: unknown, url: string) =>
  innermost(error).every(each => isUnreached(each, new URL(url)));

/** A wrapper may call any failure a refused connection. */
function innermost(error: unknown, depth = 0): unknown[] {
  if (depth > DEEPEST_CAUSE) return [undefined];
  const { cause, errors = [] } = Object(error);
  const inner = [...(Array.isArray(errors) ? errors : [errors]), ...(cause == null ? [] : [cause])];
  return inner.length > 0 ? inner.flatMap(each => innermost(each, depth + 1)) : [error];
}

/** Checks for the gateway's own name or address: a fetch may have got an answer, then failed at an audit log. */
function isUnreached(error: unknown, gateway: URL) {
  const { syscall, hostname, address, port } = Object(error);
  // An IPv6 address has brackets.
  const host = gateway.hostname.replace(/[[\]]/g, '');
  if (syscall === 'getaddrinfo') return hostname === host;
  if (syscall !== 'connect' || port !== Number(gateway.port || (gateway.protocol === 'https:' ? 443 : 80)))
    return false;
  // Only the addresses of `localhost` are known.
  return address === host || (host === 'localhost' && ['127.0.0.1', '::1'].includes(address));
}

/** Codes of the system, Node, TLS and libraries. */
const CODE = /^[A-Z][A-Z\d]+(?:_[A-Z\d]+)*$/;

/** Their messages, of the system, TLS or undici, contain no part of a request. */
const SYSTEM_CODE = /^(?:E[A-Z\d]+|(?:ERR_TLS|ERR_SSL|UND_ERR|HPE)_[A-Z\d_]+|[A-Z_]*(?:CERT|VERIFY)[A-Z_]*)$/;

/** A function's name and a place, but no sentence, address or JSON. */
const FRAME = /^ {4}at (?:[\w$.<>#[\] ]+ \()?[^\s"'(){}]+:\d+:\d+\)?$/gm;

/**
 * Returns the first code in the chain of causes, and a copy of the chain. The merchant's fetch may throw anything, even
 * the whole request, so the copy has only names, codes, frames and messages of system errors, without the secrets.
 */
export function failureOf(error: unknown, secrets: readonly string[], depth = 0): Failure {
  if (error instanceof LateError) return { code: 'timeout' };
  if (typeof error !== 'object' || !error || depth > DEEPEST_CAUSE) return { code: 'fetch_failed' };
  const thrown = error as Record<string, unknown>;
  const safe = (text: unknown) => secrets.reduce((shown, key) => shown.replaceAll(key, '[redacted]'), String(text));
  const text = String(thrown.message);
  const code = typeof thrown.code === 'string' && CODE.test(thrown.code) ? safe(thrown.code) : undefined;
  const message = code && SYSTEM_CODE.test(code) ? safe(text) : '(withheld: it may hold customer data)';
  const name = /^\w{1,40}$/.test(String(thrown.name)) ? safe(thrown.name) : 'Error';
  // A line of the message may look like a frame.
  const frames = String(thrown.stack).replace(text, '').match(FRAME) ?? [];
  const stack = safe([`${name}: ${message}`, ...frames].join('\n'));
  const inner = failureOf(thrown.cause, secrets, depth + 1);
  const details = { name, stack, ...(code && { code }), ...(inner.cause && { cause: inner.cause }) };
  return { code: code ?? inner.code, cause: Object.assign(new Error(message), details) };
}
