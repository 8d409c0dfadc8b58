// The client's options: what each means, where its default comes from, and what is refused.
import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Fetch } from './attempts.ts';
import { isTimeout } from './call-options.ts';
import { ConfigurationError } from './errors.ts';
import type { EventListener } from './events.ts';
import { isLoopback } from './loopback.ts';
import type { Journal } from './once/journal.ts';
import { checkOptionNames } from './option-names.ts';
import type { Terminal } from './schemas/methods.ts';
import type { SignatureEncoding } from './signing.ts';

export interface ClientOptions<T extends Terminal = Terminal> {
  /**
   * The gateway's base address, `https:` except on loopback; a path is kept, `/api/v1` is added by the SDK.
   * @default process.env.PAYMENT_GATEWAY_URL
   */
  baseUrl?: string | undefined;
  /**
   * The bearer credential of every call.
   * @default process.env.PAYMENT_GATEWAY_API_KEY
   */
  apiKey?: string | undefined;
  /**
   * The key that signs creates.
   * @default process.env.PAYMENT_GATEWAY_SIGN_KEY
   */
  signKey?: string | undefined;
  /**
   * How the signature is written. The gateway's document does not say: ask the gateway.
   * @default 'hex'
   */
  signatureEncoding?: SignatureEncoding | undefined;
  /**
   * `onramp` opens the on-ramp methods, in types and at run time.
   * @default 'standard'
   */
  terminal?: T | undefined;
  /**
   * Milliseconds for one whole call: every attempt, wait and body read.
   * @default 30_000
   */
  timeout?: number | undefined;
  /**
   * How often a call is repeated: a lookup while the gateway is busy or out of reach, a create only when it
   * provably never left this machine. 0 repeats nothing.
   * @default 2
   */
  retries?: number | undefined;
  /**
   * Any fetch that does not retry: a proxy's, an APM wrapper, `sandbox.fetch`. It should reject for nothing but its
   * own request, since a failed `connect` reads as "never left this machine".
   * @default globalThis.fetch, as it is when a call is made
   */
  fetch?: Fetch | undefined;
  /**
   * Makes each create with a `reference` at most once, across processes and crashes: `postgresJournal(pool)`, or
   * `memoryJournal()` in tests. With it a withdrawal needs a reference.
   */
  journal?: Journal | undefined;
  /** Hears of every request, response, retry and failure; never of a secret or of customer data. */
  onEvent?: EventListener | undefined;
}

/** Options with every default in place and every value checked. */
export interface Settings {
  baseUrl: string;
  apiKey: string;
  signKey: KeyObject;
  signatureEncoding: SignatureEncoding;
  terminal: Terminal;
  timeout: number;
  retries: number;
  fetch: Fetch | undefined;
  journal: Journal | undefined;
  onEvent: EventListener | undefined;
}

const OPTIONS: readonly (keyof ClientOptions)[] = [
  'baseUrl',
  'apiKey',
  'signKey',
  'signatureEncoding',
  'terminal',
  'timeout',
  'retries',
  'fetch',
  'journal',
  'onEvent',
];

/** @throws {ConfigurationError} naming the option and the mend, never the value */
export function resolveOptions(options: ClientOptions): Settings {
  if (!('rawJSON' in JSON)) throw new ConfigurationError('payment-gateway-sdk needs Node.js 22.12 or later.');
  if ('Deno' in globalThis && !options?.fetch) {
    throw new ConfigurationError(
      "Deno's fetch may send a create again when a connection breaks: pass a fetch that does not, for example with Deno.createHttpClient({ poolMaxIdlePerHost: 0 }).",
    );
  }
  checkOptionNames('GatewayClient', options, OPTIONS);
  const {
    baseUrl = process.env.PAYMENT_GATEWAY_URL,
    apiKey = process.env.PAYMENT_GATEWAY_API_KEY,
    signKey = process.env.PAYMENT_GATEWAY_SIGN_KEY,
    signatureEncoding = 'hex',
    terminal = 'standard',
    timeout = 30_000,
    retries = 2,
    fetch,
    journal,
    onEvent,
  } = options;
  return {
    baseUrl: checkBaseUrl(baseUrl),
    apiKey: checkKey('apiKey', apiKey, 'PAYMENT_GATEWAY_API_KEY'),
    signKey: createSecretKey(checkKey('signKey', signKey, 'PAYMENT_GATEWAY_SIGN_KEY'), 'utf8'),
    signatureEncoding: oneOf('signatureEncoding', signatureEncoding, ['hex', 'base64']),
    terminal: oneOf('terminal', terminal, ['standard', 'onramp']),
    timeout: checkTimeout(timeout),
    retries: checkRetries(retries),
    fetch: checkFunction('fetch', fetch),
    journal: checkJournal(journal),
    onEvent: checkFunction('onEvent', onEvent),
  };
}

function checkTimeout(value: unknown): number {
  if (isTimeout(value)) return value;
  throw new ConfigurationError('timeout must be milliseconds, more than 0 and at most 24 days.');
}

function checkRetries(value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw new ConfigurationError('retries must be a whole number, 0 or more.');
}

function checkFunction<F>(name: string, value: F | undefined): F | undefined {
  if (value === undefined || typeof value === 'function') return value;
  throw new ConfigurationError(`${name} must be a function.`);
}

function checkJournal(value: Journal | undefined): Journal | undefined {
  if (value === undefined || typeof value?.begin === 'function') return value;
  throw new ConfigurationError(
    'journal must be a journal: postgresJournal(pool), or memoryJournal() in tests.',
  );
}

function oneOf<V extends string>(name: string, value: V, accepted: readonly V[]): V {
  if (accepted.includes(value)) return value;
  throw new ConfigurationError(`${name} must be ${accepted.map(one => `'${one}'`).join(' or ')}.`);
}

/** Left by a careless copy: a control character or line break anywhere, white space at an end. */
const CARELESS_COPY = /[\p{Cc}\p{Zl}\p{Zp}]|^\s|\s$/u;
const HEADER_TEXT = /^[\x20-\xff]*$/;

function checkKey(name: 'apiKey' | 'signKey', value: unknown, variable: string): string {
  if (value === undefined) throw new ConfigurationError(`${name} is missing: pass it, or set ${variable}.`);
  if (typeof value !== 'string') throw new ConfigurationError(`${name} must be a string.`);
  if (value === '') throw new ConfigurationError(`${name} is empty: pass it, or set ${variable}.`);
  if (CARELESS_COPY.test(value)) {
    throw new ConfigurationError(`${name} has a line break or a space at an end: copy it anew.`);
  }
  if (/^bearer /i.test(value))
    throw new ConfigurationError(`${name} goes without "Bearer": the SDK adds it.`);
  if (name === 'apiKey' && !HEADER_TEXT.test(value)) {
    throw new ConfigurationError('apiKey has a character that no header can carry: copy it anew.');
  }
  return value;
}

function checkBaseUrl(value: unknown): string {
  const example = 'such as https://gateway.example';
  if (value === undefined || value === '') {
    throw new ConfigurationError(`baseUrl is missing: pass it, or set PAYMENT_GATEWAY_URL, ${example}.`);
  }
  if (typeof value !== 'string' || !/^[a-z]+:\/\//i.test(value) || !URL.canParse(value)) {
    throw new ConfigurationError(`baseUrl must be an absolute URL, ${example}.`);
  }
  const url = new URL(value);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    throw new ConfigurationError(
      'baseUrl must be https: http: would show the keys to the network. Loopback may be http.',
    );
  }
  if (url.username || url.password)
    throw new ConfigurationError('baseUrl must not hold a user name or a password.');
  if (url.search || url.hash) throw new ConfigurationError('baseUrl must not have a query or a fragment.');
  const path = url.pathname.replace(/\/+$/, '');
  if (/\/api\/v1(\/|$)/.test(path))
    throw new ConfigurationError('baseUrl must end before /api/v1: the SDK adds it.');
  return url.origin + path;
}
