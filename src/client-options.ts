// The options of the client and its calls.
import { createSecretKey } from 'node:crypto';
import type { Agent } from 'node:http';
import * as z from 'zod';
import { ConfigurationError } from './errors.ts';
import type { Fetch } from './http/own-fetch.ts';
import { runtime } from './http/runtime.ts';
import {
  argumentReader,
  callFields,
  extraField,
  flag,
  functionOf,
  milliseconds,
  objectWith,
  oneOf,
  optionsReader,
  requiredText,
  text,
} from './option-reader.ts';
import { refusing } from './schemas/fields-of.ts';
import type { Terminal } from './schemas/methods.ts';
import { DIFFERENCES, type Difference } from './schemas/records/matching.ts';
import { httpUrl, isLoopback } from './schemas/url.ts';
import type { Store } from './store/contract.ts';
import type { GatewayEvent } from './telemetry/events.ts';

/** Text form of the signature's 32 bytes. */
export type SignatureEncoding = 'hex' | 'base64';

/** Options of `new GatewayClient()`. */
export interface ClientOptions<T extends Terminal = Terminal, Tx = unknown> {
  /**
   * Base address of the gateway, `https:` except on loopback. The SDK keeps its path and adds `/api/v1`.
   * @default process.env.PAYMENT_GATEWAY_URL
   */
  baseUrl?: string | undefined;
  /** Bearer credential of every call. @default process.env.PAYMENT_GATEWAY_API_KEY */
  apiKey?: string | undefined;
  /** Key that signs every create. @default process.env.PAYMENT_GATEWAY_SIGN_KEY */
  signKey?: string | undefined;
  /**
   * Text form of a create's signature. The gateway's document leaves it open: ask, or try `'base64'` after a 401.
   * @default 'hex'
   */
  signatureEncoding?: SignatureEncoding | undefined;
  /** Kind of terminal. `'onramp'` adds the on-ramp methods, in types and at run time. @default 'standard' */
  terminal?: T | undefined;
  /** Absolute http(s) URL: the default `webhookUrl` of creates with neither `webhookUrl` nor `callbackUrl`. */
  webhookUrl?: string | undefined;
  /** Milliseconds for a whole call: every attempt, pause and body read. @default 30_000 */
  timeout?: number | undefined;
  /**
   * Number of retries: of a lookup while the gateway is busy or unreachable, of a create only if it provably never left
   * this machine. 0 turns retries off.
   * @default 2
   */
  retries?: number | undefined;
  /**
   * Your agent of `node:https` or `node:http`, as `baseUrl` needs, for client certificates, a private CA or a proxy. An
   * abandoned call closes its connection, but written bytes may still arrive.
   * @default the SDK's own connections, which are reset when a call is abandoned
   */
  agent?: Agent | undefined;
  /** Maximum number of open connections. A call that waits for one has not been sent. @default 256 */
  maxConnections?: number | undefined;
  /**
   * Function that replaces the SDK's own connections: a test double, `sandbox.fetch`, or the fetch of a runtime without
   * sockets. The SDK cannot see what it sends: more creates end as `unknown`, and it never retries one.
   */
  fetch?: Fetch | undefined;
  /**
   * Keeps all state of the SDK: `postgresStore(pool, { scope })`, `mysqlStore(pool, { scope })`, or `memoryStore()` in
   * development and tests. It allows one payment per `reference`, and requires the `reference` of a withdrawal.
   */
  store?: Store<Tx> | undefined;
  /**
   * Whether each create adds a token to its `webhookUrl` and `callbackUrl`, as their last query parameter, so that
   * `createWebhookHandler` recognises forged callbacks. The gateway must keep the query of an address.
   * @default false
   */
  signCallbackUrls?: boolean | undefined;
  /** Earlier sign keys, whose callback tokens stay valid after a key rotation. @default [] */
  formerSignKeys?: readonly string[] | undefined;
  /** Listener for every step and end of a call. Events never contain a secret or customer data. */
  onEvent?: ((event: GatewayEvent) => void) | undefined;
}

/** Options of any call. */
export interface CallOptions {
  /** Signal that stops the call. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for the whole call. @default the client's `timeout` */
  timeout?: number | undefined;
}

/** Options of a create. */
export interface CreateOptions extends CallOptions {
  /** Additional top-level fields of the body, for fields of the gateway that this SDK does not know yet. */
  extra?: object | undefined;
}

/** Options of `settle`. */
export interface SettleOptions extends CallOptions {
  /**
   * Fields in which the payment may differ from the create, as named by the error that refuses it. A gateway may trim a
   * text, change its case, or round. `paymentId` accepts this payment although the store knows another: both may have
   * been paid. With `not_created`, `paymentId` says that the payment in the store belongs to another order.
   * @default []
   */
  despite?: readonly Difference[] | undefined;
}

const MISTAKES: [RegExp, string][] = [
  [
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|^\s|\s$/u,
    'has an invisible character, a line break, or a space at an end: copy it again',
  ],
  // Docker's `--env-file` keeps quotation marks.
  [/^(["'`]).*\1$|[\u2018-\u201f\u00ab\u00bb]/, 'has quotation marks: leave them out'],
  [/^(?:undefined|null|<.*>|\$\{.*\})$/i, 'is a placeholder: set the real key'],
  [/^bearer /i, 'must not start with "Bearer": the SDK adds it'],
];
const NO_HEADER = 'has a character that an HTTP header cannot contain: copy it again';

const without = (mistakes: readonly [RegExp, string][]) =>
  refusing((key: string) => mistakes.find(([trace]) => trace.test(key))?.[1]);
const toKey = (text: string) => createSecretKey(text, 'utf8');

const apiKey = requiredText('PAYMENT_GATEWAY_API_KEY').check(without([...MISTAKES, [/[^\x20-\xff]/, NO_HEADER]]));
const signKey = requiredText('PAYMENT_GATEWAY_SIGN_KEY').check(without(MISTAKES)).transform(toKey);
const formerSignKey = text.min(1, 'is empty').check(without(MISTAKES)).transform(toKey);

const ADDRESS = 'an absolute URL, such as https://gateway.example';
const baseUrl = requiredText('PAYMENT_GATEWAY_URL', ADDRESS)
  .check(refusing(baseUrlProblem))
  .transform(value => {
    const { origin, pathname } = new URL(value);
    return origin + pathname.replace(/\/+$/, '');
  });

function baseUrlProblem(value: string) {
  if (!/^[a-z]+:\/\//i.test(value) || !URL.canParse(value)) return `must be ${ADDRESS}`;
  const { protocol, hostname, username, password, search, hash, pathname } = new URL(value);
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname)))
    return 'must use https:, which protects the keys. http: works only on localhost';
  if (username || password) return 'must not contain a user name or a password';
  if (search || hash) return 'must not have a query or a fragment';
  return /\/api\/v1(\/|$)/.test(pathname) ? 'must end before /api/v1: the SDK adds it' : undefined;
}

const wholeNumber = (least: number) => {
  const mistake = `must be a whole number, ${least} or more`;
  return z.int(mistake).min(least, mistake);
};

const readFields = optionsReader<ClientOptions>()('GatewayClient', {
  baseUrl,
  apiKey,
  signKey,
  signatureEncoding: oneOf(['hex', 'base64']).default('hex'),
  terminal: oneOf(['standard', 'onramp']).default('standard'),
  webhookUrl: httpUrl.optional(),
  timeout: milliseconds.default(30_000),
  retries: wholeNumber(0).default(2),
  agent: objectWith<Agent>(['addRequest' as never], 'must be an Agent of node:http or node:https').optional(),
  maxConnections: wholeNumber(1).default(256),
  fetch: functionOf<Fetch>().optional(),
  store: objectWith<Store>(
    ['read', 'owner', 'write', 'list', 'due', 'effect'],
    'must be a store: postgresStore(pool, { scope }), or memoryStore() in tests',
  ).optional(),
  signCallbackUrls: flag.default(false),
  formerSignKeys: z.array(formerSignKey, 'must be a list of keys').readonly().default([]),
  onEvent: functionOf<(event: GatewayEvent) => void>().optional(),
});

/** The client's checked options, with every default. */
export type Settings = ReturnType<typeof readFields>;

/** @throws {ConfigurationError} naming the option and the fix, never the value */
export function readClientOptions(options: ClientOptions): Settings {
  const { name, problem } = runtime();
  if (!('rawJSON' in JSON))
    throw new ConfigurationError(`payment-gateway-sdk needs Node.js 22.12 or later. This is ${name}.`);
  if (problem && !options?.fetch) throw new ConfigurationError(`${problem}.`);
  const settings = readFields(options);
  const { agent, fetch, baseUrl } = settings;
  if (agent && fetch) throw new ConfigurationError('GatewayClient: pass an agent or a fetch, not both.');
  const { protocol } = new URL(baseUrl);
  // Node refuses calls over an agent of the other protocol. A proxy's agent is for both: it has no own `protocol`.
  const own = agent && Object.hasOwn(agent, 'protocol') && (agent as { protocol?: string }).protocol;
  if (!own || own === protocol) return settings;
  throw new ConfigurationError(
    `GatewayClient: agent is for ${own}, and baseUrl is ${protocol}. Pass an Agent of node:${protocol.slice(0, -1)}.`,
  );
}

export const readCallOptions = argumentReader<CallOptions>()(callFields);

export const readCreateOptions = argumentReader<CreateOptions>()({ ...callFields, extra: extraField }, 'not_sent');

export const readSettleOptions = argumentReader<SettleOptions>()({
  ...callFields,
  despite: z.array(oneOf(DIFFERENCES), "must be a list, such as ['amount']").readonly().default([]),
});
