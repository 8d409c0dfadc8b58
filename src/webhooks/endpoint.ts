// The endpoint for callbacks: its options, and the parts that its callbacks share.
import * as z from 'zod';
import { ConfigurationError } from '../errors.ts';
import { functionOf, objectWith, oneOf, optionsReader } from '../option-reader.ts';
import { each } from '../schemas/fields-of.ts';
import type { Store } from '../store/contract.ts';
import { memoryStore } from '../store/memory.ts';
import type { CallbackEvent } from '../telemetry/events.ts';
import { CLIENT, type ClientLink, type WebhookGateway } from './client-link.ts';
import { FUNCTIONS, type Functions } from './functions.ts';
import { Turns } from './turns.ts';

/** The options of a webhook handler. */
export interface WebhookHandlerOptions<Tx = unknown> extends Functions<Tx> {
  /** The `GatewayClient` that creates the payments. Its store is the handler's. */
  gateway: WebhookGateway<Tx>;
  /**
   * Milliseconds for a callback's functions, at most 25,000. Then the SDK rolls back, answers 503, and runs them again
   * later.
   * @default 20_000
   */
  effectTimeout?: number | undefined;
  /** The largest body to read, in bytes. @default 262_144 */
  maxBodyBytes?: number | undefined;
  /**
   * Decides whether to accept a callback, by its request and the body's exact bytes: for a signature or an allow list of
   * addresses, once the gateway documents one.
   */
  verify?: ((request: Request, rawBody: Uint8Array) => boolean | Promise<boolean>) | undefined;
  /**
   * How to treat callbacks without a valid token of `signCallbackUrls` in their address. `limit` accepts them, but
   * processes fewer concurrently. `refuse` answers 401, and needs a client with `signCallbackUrls`.
   * @default 'limit'
   */
  unsigned?: 'limit' | 'refuse' | undefined;
  /** Gets the error of a callback not answered 200, or of a function for `afterCommit`. Its own errors change nothing. */
  onError?: ((error: unknown) => unknown) | undefined;
  /** Gets each callback's result, and warnings for an operator, without secrets or customer data. */
  onEvent?: ((event: CallbackEvent) => void) | undefined;
}

export interface Endpoint extends WebhookHandlerOptions {
  effectTimeout: number;
  maxBodyBytes: number;
  unsigned: 'limit' | 'refuse';
  link: ClientLink | undefined;
  /** The client's, or else one of this process. */
  store: Store;
  turns: Turns;
  /** The running notes of unfinished callbacks, by payment. */
  notes: Map<string, Promise<void>>;
}

/** Milliseconds until a callback's answer: the sender gives up at about 30 s. */
export const LONGEST_ANSWER = 25_000;
const TIMEOUT = { error: 'must be milliseconds, more than 0 and at most 25,000' };
const BYTES = { error: 'must be a number of bytes, more than 0 and finite' };

const readFields = optionsReader<WebhookHandlerOptions>()('createWebhookHandler', {
  gateway: objectWith<WebhookGateway>(['getPayment'], 'must be a GatewayClient'),
  ...each([...FUNCTIONS, 'verify', 'onError', 'onEvent'] as const, functionOf<never>().optional()),
  effectTimeout: z.number(TIMEOUT).positive(TIMEOUT).max(LONGEST_ANSWER, TIMEOUT).default(20_000),
  maxBodyBytes: z.number(BYTES).positive(BYTES).default(262_144),
  unsigned: oneOf(['limit', 'refuse']).default('limit'),
});

/** @throws {ConfigurationError} without a function, or for options that are invalid or need another client */
export function openEndpoint(options: WebhookHandlerOptions): Endpoint {
  const settings = readFields(options);
  const link = settings.gateway[CLIENT];
  const given = FUNCTIONS.filter(name => settings[name]);
  if (given.length === 0)
    throw new ConfigurationError(`createWebhookHandler: pass a function, such as ${FUNCTIONS.slice(0, 4).join(', ')}.`);
  const needing = given.filter(name => name !== 'onPayment');
  if (!link?.store && needing.length > 0)
    throw new ConfigurationError(
      `createWebhookHandler: pass a client with a store for ${needing.join(', ')}: new GatewayClient({ store: postgresStore(pool, { scope }) }), or memoryStore() in development.`,
    );
  if (settings.unsigned === 'refuse' && !link?.signCallbackUrls)
    throw new ConfigurationError(
      "createWebhookHandler: unsigned: 'refuse' needs a client that signs callback addresses: new GatewayClient({ signCallbackUrls: true }).",
    );
  return { ...settings, link, store: link?.store ?? memoryStore(), turns: new Turns(), notes: new Map() };
}
