// The options of a sandbox: what each means, its default, and what is refused.
import * as z from 'zod';
import { LONGEST_TIMER } from '../deadline.ts';
import { ConfigurationError } from '../errors.ts';
import { count, functionOf, oneOf, optionsReader } from '../options/reader.ts';
import type { Terminal } from '../schemas/methods.ts';
import { httpUrl } from '../schemas/url.ts';
import type { CallbackFetch } from './callbacks/post.ts';
import type { SandboxListener } from './event-bus.ts';
import { isSavedSandbox, type SavedSandbox } from './saved.ts';

/** What a `Sandbox` is made with. */
export interface SandboxOptions<T extends Terminal = Terminal> {
  /**
   * The bearer credential that calls must carry.
   * @default 'sandbox-api-key'
   */
  apiKey?: string | undefined;
  /**
   * The key that creates must be signed with.
   * @default 'sandbox-sign-key'
   */
  signKey?: string | undefined;
  /**
   * How the signature of a create must be written.
   * @default 'hex'
   */
  signatureEncoding?: 'hex' | 'base64' | undefined;
  /**
   * Which methods deposits may use.
   * @default 'standard'
   */
  terminal?: T | undefined;
  /**
   * How a PayID deposit is paid: by transfer instructions in the answer, or on a hosted page.
   * @default 'host-to-host'
   */
  payid?: 'host-to-host' | 'redirect' | undefined;
  /**
   * Whether answers are wrapped in `result`, or bare as in an earlier variant of the interface: that one had neither a
   * `redirectUrl` nor transfer instructions.
   * @default 'wrapped'
   */
  shape?: 'wrapped' | 'unwrapped' | undefined;
  /**
   * The name of the shop on the customer's pages.
   * @default 'Your shop'
   */
  shopName?: string | undefined;
  /** Takes every callback, in place of the payments' own addresses: any http(s) URL. It gets their query. */
  forwardTo?: string | undefined;
  /**
   * Whether callbacks are posted to the whole address, or without its query: the document says neither. Try `drop` to see
   * what becomes of callbacks whose address was signed (`signCallbackUrls`).
   * @default 'keep'
   */
  callbackQuery?: 'keep' | 'drop' | undefined;
  /**
   * Posts the callbacks.
   * @default the global fetch, to loopback addresses only; pass it to post anywhere
   */
  fetch?: CallbackFetch | undefined;
  /**
   * Milliseconds before each repetition of a callback that was not answered with 2xx: `[1000, 5000]` posts it three times
   * at most. The document shows no policy of the gateway's.
   * @default []
   */
  callbackRetries?: readonly number[] | undefined;
  /**
   * Milliseconds that each call takes longer.
   * @default 0
   */
  latency?: number | undefined;
  /**
   * How many payments are kept: above that, the oldest final ones are forgotten.
   * @default 10000
   */
  maxPayments?: number | undefined;
  /**
   * How many deliveries of callbacks are kept.
   * @default 20000
   */
  maxDeliveries?: number | undefined;
  /** What `sandbox.save()` gave: the sandbox goes on from there. */
  saved?: SavedSandbox | undefined;
  /** The same seed gives the same ids in every run, and after `reset()`; without one they are random. */
  seed?: string | undefined;
  /**
   * Milliseconds since 1970; `sandbox.clock` moves on from there.
   * @default Date.now
   */
  now?: (() => number) | undefined;
  /** Gets every call, move, callback and fault, and every move of the clock. */
  onEvent?: SandboxListener | undefined;
}

const MS = { error: 'must be milliseconds, 0 or more, and at most 24 days' };
const KEY = { error: 'must be a text that is not empty' };

const readFields = optionsReader<SandboxOptions>()('Sandbox', {
  apiKey: z.string(KEY).min(1, KEY).default('sandbox-api-key'),
  signKey: z.string(KEY).min(1, KEY).default('sandbox-sign-key'),
  signatureEncoding: oneOf(['hex', 'base64']).default('hex'),
  terminal: oneOf(['standard', 'onramp']).default('standard'),
  payid: oneOf(['host-to-host', 'redirect']).default('host-to-host'),
  shape: oneOf(['wrapped', 'unwrapped']).default('wrapped'),
  shopName: z.string(KEY).min(1, KEY).default('Your shop'),
  forwardTo: httpUrl.optional(),
  callbackQuery: oneOf(['keep', 'drop']).default('keep'),
  callbackRetries: z
    .array(z.number(MS).min(0, MS).max(LONGEST_TIMER, MS), { error: 'must be a list of milliseconds' })
    .readonly()
    .default([]),
  latency: z.number(MS).min(0, MS).max(LONGEST_TIMER, MS).default(0),
  maxPayments: count.default(10_000),
  maxDeliveries: count.default(20_000),
  saved: z.custom<SavedSandbox>(isSavedSandbox, { error: 'must be what sandbox.save() gave' }).optional(),
  fetch: functionOf<CallbackFetch>().optional(),
  seed: z.string({ error: 'must be a string' }).optional(),
  now: functionOf<() => number>().default(() => Date.now),
  onEvent: functionOf<SandboxListener>().optional(),
});

/** The options of a sandbox with every default filled in and every value checked. */
export type SandboxSettings = ReturnType<typeof readFields>;

/** @throws {ConfigurationError} for a refused option, and under `NODE_ENV=production` */
export function readSandboxOptions(options: SandboxOptions): SandboxSettings {
  if (process.env.NODE_ENV === 'production') {
    throw new ConfigurationError('The sandbox does not start under NODE_ENV=production: it moves no money.');
  }
  return readFields(options);
}
