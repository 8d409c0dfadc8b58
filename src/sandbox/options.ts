// What a sandbox is told when it is made, and the checks of it.
import * as z from 'zod';
import { ConfigurationError, listOf } from '../errors.ts';
import { issuesOf } from '../issues.ts';
import { unknownFields } from '../schemas/hints.ts';
import type { Terminal } from '../schemas/methods.ts';
import { strict } from '../schemas/objects.ts';
import { isHttpUrl } from '../schemas/request.ts';
import type { CallbackFetch } from './callbacks.ts';
import type { SandboxListener } from './events.ts';

const terminalFields = {
  /** The bearer credential that calls must carry. */
  apiKey: z.string().min(1).default('sandbox-api-key'),
  /** The key that creates must be signed with. */
  signKey: z.string().min(1).default('sandbox-sign-key'),
  /** How the signature of a create must be written. */
  signatureEncoding: z.enum(['hex', 'base64']).default('hex'),
  /** Which methods deposits may use. */
  terminal: z.enum(['standard', 'onramp']).default('standard'),
  /** How a PayID deposit is paid: by transfer instructions in the answer, or on a hosted page. */
  payid: z.enum(['host-to-host', 'redirect']).default('host-to-host'),
  /**
   * Whether answers stand in `result`, or alone as in an earlier variant of the interface: that one had neither a
   * `redirectUrl` nor transfer instructions.
   */
  shape: z.enum(['wrapped', 'unwrapped']).default('wrapped'),
};

/** Options of the sandbox that are none of the terminal's. */
const OTHER_OPTIONS = ['fetch', 'now', 'seed', 'forwardTo', 'onEvent'];

/** What a terminal of the sandbox is like. */
const terminalSchema = strict(terminalFields, {
  error: issue =>
    issue.code === 'unrecognized_keys'
      ? unknownFields(issue.keys, [...Object.keys(terminalFields), ...OTHER_OPTIONS])
      : 'must be an object of options',
});

export type TerminalOptions = z.output<typeof terminalSchema>;

/** What a sandbox is told when it is made. */
export type SandboxOptions<T extends Terminal = Terminal> = Omit<
  z.input<typeof terminalSchema>,
  'terminal'
> & {
  /**
   * Which methods deposits may use.
   * @default 'standard'
   */
  terminal?: T | undefined;
  /**
   * Posts the callbacks.
   * @default the global fetch, to loopback addresses only; pass it to post anywhere
   */
  fetch?: CallbackFetch | undefined;
  /**
   * Takes every callback, in place of the payments' own addresses: any http(s) URL.
   */
  forwardTo?: string | undefined;
  /**
   * Milliseconds since 1970, for `created`.
   * @default Date.now
   */
  now?: (() => number) | undefined;
  /** The same seed gives the same ids in every run, and after `reset()`; without one they are random. */
  seed?: string | undefined;
  /** Hears of every call, move, callback and fault. */
  onEvent?: SandboxListener | undefined;
};

/** @throws {ConfigurationError} for a refused option, and under `NODE_ENV=production` */
export function resolveOptions(options: SandboxOptions | undefined) {
  const { fetch, forwardTo, now = Date.now, seed, onEvent, ...rest } = options ?? {};
  if (process.env.NODE_ENV === 'production') {
    throw new ConfigurationError('The sandbox does not start under NODE_ENV=production: it moves no money.');
  }
  const { success, data: terminal, error } = terminalSchema.safeParse(rest);
  if (!success) throw new ConfigurationError(`Sandbox: ${listOf(issuesOf(error))}.`);
  for (const [name, value] of Object.entries({ fetch, now, onEvent })) {
    if (value !== undefined && typeof value !== 'function') {
      throw new ConfigurationError(`Sandbox: ${name} must be a function.`);
    }
  }
  if (seed !== undefined && typeof seed !== 'string') {
    throw new ConfigurationError('Sandbox: seed must be a string.');
  }
  if (forwardTo !== undefined && !isHttpUrl(forwardTo)) {
    throw new ConfigurationError('Sandbox: forwardTo must be an http(s) URL.');
  }
  return { terminal, fetch, forwardTo, now, seed, onEvent };
}
