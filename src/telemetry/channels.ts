// Reports calls to tracers over Node's own tracing channels. Only a listener makes calls cost more.
import * as diagnostics from 'node:diagnostics_channel';
import type { Outcome } from '../errors.ts';
import type { CallbackStep, CallFacts, Operation, Success } from './events.ts';

/**
 * The object that a subscriber of a tracing channel gets: one for each call, filled while the call runs. It contains
 * neither a secret nor customer data. Node adds `error` if the call fails.
 */
export interface CallTrace extends Readonly<CallFacts> {
  /** The client's address of the gateway. */
  readonly baseUrl?: string | undefined;
  /** The status as the gateway wrote it, once known. */
  readonly paymentStatus?: string | undefined;
  /** Only for a create. */
  readonly paymentType?: string | undefined;
  /** Only for a create. */
  readonly paymentMethod?: string | undefined;
  /** Only for a callback. */
  readonly lane?: CallbackStep['lane'] | undefined;
  /** The HTTP status of the gateway's last answer, or of the handler's answer to a callback. */
  readonly httpStatus?: number | undefined;
  /** The result, at the end. A failed create has its error's outcome. */
  readonly outcome?: CallOutcome | undefined;
  /** The error's code, at the end of a failed call. */
  readonly code?: string | undefined;
  /** The thrown error, added by Node. */
  readonly error?: unknown;
  /**
   * Runs all work of the call in `run`. Call it at `start`, for a tracer whose own context is not an
   * `AsyncLocalStorage`.
   */
  runIn(run: <T>(work: () => T) => T): void;
}

/** Runs work in a context. */
export type Run = <T>(work: () => T) => T;

/** The result of a call. */
export type CallOutcome = Success['outcome'] | Outcome | 'failed' | Exclude<CallbackStep['result'], 'received'>;

/** The channels, by their names after `payment-gateway-sdk:`. */
const CHANNEL_OF = {
  create: 'create',
  lookup: 'lookup',
  callback: 'callback',
  settle: 'store',
  upkeep: 'store',
} as const satisfies Record<Operation, string>;

type Channel = diagnostics.TracingChannel<unknown, CallTrace>;

// Some runtimes lack tracing channels, and so have no listeners.
export const channels = new Map(
  Object.values(CHANNEL_OF).map(name => [
    name,
    diagnostics.tracingChannel?.<unknown, CallTrace>(`payment-gateway-sdk:${name}`),
  ]),
);

/** Bun's tracing channels have no `hasSubscribers` of their own. */
const isListenedTo = (channel: Channel): boolean =>
  [channel.start, channel.end, channel.asyncStart, channel.asyncEnd, channel.error].some(one => one.hasSubscribers);

/** Runs a call within its channel and the contexts that its tracers request. */
export async function traced<T>(trace: CallTrace & { run: Run }, work: () => Promise<T>): Promise<T> {
  const channel = channels.get(CHANNEL_OF[trace.operation]);
  if (!channel || !isListenedTo(channel)) return work();
  let result!: T;
  // Node adds the resolved value to the trace, so the promise resolves to nothing: a payment is customer data.
  const untold = async () => {
    result = await work();
  };
  await channel.tracePromise(() => trace.run(untold), trace);
  return result;
}
