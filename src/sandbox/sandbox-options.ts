// The options of a sandbox, with their defaults and checks.
import * as z from 'zod';
import { ConfigurationError } from '../errors.ts';
import { count, functionOf, oneOf, optionsReader, text } from '../option-reader.ts';
import type { Terminal } from '../schemas/methods.ts';
import { httpUrl } from '../schemas/url.ts';
import type { SandboxListener } from './log/events.ts';
import { isSavedSandbox, type SavedSandbox } from './saved.ts';
import { type Duration, duration } from './text/duration.ts';

/** A function that posts a callback: fetch, or a test double. */
export type CallbackFetch = (url: string, init: RequestInit) => Promise<Response>;

type Reviews = () => Promise<readonly { id: string; reason: string }[]>;

/** The options of a `Sandbox`, all optional. */
export interface SandboxOptions<T extends Terminal = Terminal> {
  /** The API key that calls must send as a bearer token. @default 'sandbox-api-key' */
  apiKey?: string | undefined;
  /** The sign key that creates must be signed with. @default 'sandbox-sign-key' */
  signKey?: string | undefined;
  /** The encoding of a create's signature. @default 'hex' */
  signatureEncoding?: 'hex' | 'base64' | undefined;
  /** The terminal, which decides the payment methods of deposits. @default 'standard' */
  terminal?: T | undefined;
  /** Whether customers pay by PayID with transfer instructions or on a hosted page. @default 'host-to-host' */
  payid?: 'host-to-host' | 'redirect' | undefined;
  /**
   * The form of answers. `unwrapped` is an earlier one without `result`, `redirectUrl` and transfer instructions.
   * @default 'wrapped'
   */
  shape?: 'wrapped' | 'unwrapped' | undefined;
  /** The shop's name on the customer's pages. @default 'Your shop' */
  shopName?: string | undefined;
  /** The address of the sandbox for customers, for example an HTTPS tunnel. Each `redirectUrl` begins with it. */
  publicUrl?: string | undefined;
  /** The origins whose pages may show a customer's page in a frame. @default [] */
  frameAncestors?: readonly string[] | undefined;
  /** The http(s) URL for all callbacks, instead of the payments' own addresses. Their query strings are added to it. */
  forwardTo?: string | undefined;
  /** Posts callbacks. @default the global fetch, to loopback and `*.localhost` only; pass it to post anywhere */
  fetch?: CallbackFetch | undefined;
  /**
   * The time before each repetition of a callback without a 2xx answer: `['1s', '5s']` posts it at most three times.
   * The gateway's document states no policy.
   * @default []
   */
  callbackRetries?: readonly Duration[] | undefined;
  /** The time added to each call. @default 0 */
  latency?: Duration | undefined;
  /** Most payments to keep. The oldest final ones go first. @default 10000 */
  maxPayments?: number | undefined;
  /** Most callback deliveries to keep. @default 20000 */
  maxDeliveries?: number | undefined;
  /** The result of another sandbox's `save()` to continue from. */
  saved?: SavedSandbox | undefined;
  /** Returns the payments that a person must check, to show each reason on the dashboard: `() => gateway.reviews()`. */
  reviews?: Reviews | undefined;
  /** The seed of all ids: they repeat in every run and after `reset()`. Without one they are random. */
  seed?: string | undefined;
  /** The time source, in milliseconds since 1970. `sandbox.clock` moves on from there. @default Date.now */
  now?: (() => number) | undefined;
  /** The listener of all events: calls, moves, callbacks, faults, scenarios, resets and moves of the clock. */
  onEvent?: SandboxListener | undefined;
}

const KEY = { error: 'must be a text that is not empty' };

const key = z.string(KEY).min(1, KEY);

const origin = httpUrl.transform(url => new URL(url).origin);

const list = <S extends z.ZodType>(of: S, error: string) => z.array(of, { error }).readonly().prefault([]);

/** Also for the command line. */
export const sandboxFields = {
  forwardTo: httpUrl.optional().meta({ title: 'url', description: 'post every callback there' }),
  publicUrl: httpUrl
    .optional()
    .meta({ title: 'url', description: "customers' address of the sandbox, as of a tunnel" }),
  frameAncestors: list(origin, 'must be a list of origins').meta({
    title: 'origins',
    description: 'sites that may embed /pay, separated by commas (default: none)',
  }),
  latency: duration.prefault(0).describe('extra time of each call'),
  callbackRetries: list(duration, 'must be a list of times').meta({
    title: 'times',
    description: 'repeat a failed callback after 1s,5s,30s (default: never)',
  }),
  shopName: key.default('Your shop').describe("the shop on the customer's page"),
  apiKey: key.default('sandbox-api-key').describe('bearer key of calls'),
  signKey: key.default('sandbox-sign-key').describe('key that signs creates'),
  signatureEncoding: oneOf(['hex', 'base64']).default('hex').describe('form of the signature'),
  terminal: oneOf(['standard', 'onramp']).default('standard').describe('methods that deposits may use'),
  payid: oneOf(['host-to-host', 'redirect']).default('host-to-host').describe('how a PayID deposit is paid'),
  shape: oneOf(['wrapped', 'unwrapped']).default('wrapped').describe('form of the answers'),
  seed: text.optional().describe('the same seed gives the same ids in every run'),
  maxPayments: count.default(10_000).describe('payments to keep; the oldest final ones go first'),
  maxDeliveries: count.default(20_000).describe('callback deliveries to keep'),
  saved: z.custom<SavedSandbox>(isSavedSandbox, { error: 'must be what sandbox.save() gave' }).optional(),
  fetch: functionOf<CallbackFetch>().optional(),
  reviews: functionOf<Reviews>().optional(),
  now: functionOf<() => number>().default(() => Date.now),
  onEvent: functionOf<SandboxListener>().optional(),
};

const readFields = optionsReader<SandboxOptions>()('Sandbox', sandboxFields);

export type SandboxSettings = ReturnType<typeof readFields>;

export function readSandboxOptions(options: SandboxOptions): SandboxSettings {
  if (process.env.NODE_ENV === 'production') {
    throw new ConfigurationError('The sandbox does not start under NODE_ENV=production: it moves no money.');
  }
  return readFields(options);
}
