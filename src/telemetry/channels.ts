// Tells tracers of calls, by Node's own tracing channels. While nobody listens, a call costs nothing more.
import * as diagnostics from 'node:diagnostics_channel';
import type { Outcome } from '../errors.ts';
import type { CallbackStep, Operation, Success } from './events.ts';

/**
 * What a subscriber of a tracing channel gets: one object for the whole of a call, filled while the call goes on. It holds
 * neither a secret nor customer data. Node adds `error`, if the call fails.
 */
export interface CallTrace {
  readonly callId: string;
  readonly operation: Operation;
  /** That of the client. */
  readonly baseUrl?: string | undefined;
  /** The merchant's own transaction id. */
  readonly reference?: string | undefined;
  /** The gateway's id of the payment, once it is known. */
  readonly paymentId?: string | undefined;
  /** As the gateway wrote it, once it is known. */
  readonly paymentStatus?: string | undefined;
  /** Of a create. */
  readonly paymentType?: string | undefined;
  /** Of a create. */
  readonly paymentMethod?: string | undefined;
  /** Of a callback. */
  readonly lane?: CallbackStep['lane'] | undefined;
  /** How often the call has been sent so far. */
  readonly attempt: number;
  /** Milliseconds since the call began. */
  readonly durationMs: number;
  /** The HTTP status of the gateway's last answer; of a callback that which it was answered. */
  readonly httpStatus?: number | undefined;
  /** At the end. Of a create the error's outcome, if it failed. */
  readonly outcome?: CallOutcome | undefined;
  /** At the end of a call that failed: the error's. */
  readonly code?: string | undefined;
  /** What was thrown, added by Node. */
  readonly error?: unknown;
  /**
   * For a tracer with a context of its own that is no `AsyncLocalStorage`, to be called at `start`: everything that the call
   * does runs in `run`.
   */
  runIn(run: <T>(work: () => T) => T): void;
}

/** Runs work in a context. */
export type Run = <T>(work: () => T) => T;

/** How a call has ended. */
export type CallOutcome = Success['outcome'] | Outcome | 'failed' | Exclude<CallbackStep['result'], 'received'>;

/** The channels, by their names after `payment-gateway-sdk:`. */
const CHANNEL_OF = {
  create: 'create',
  lookup: 'lookup',
  callback: 'callback',
  settle: 'journal',
  sweep: 'journal',
  drain: 'journal',
} as const satisfies Record<Operation, string>;

type Channel = diagnostics.TracingChannel<unknown, CallTrace>;

// A runtime without them has nobody who could listen.
const open = (name: string): Channel | undefined => diagnostics.tracingChannel?.(`payment-gateway-sdk:${name}`);
const channels = new Map<string, Channel | undefined>(Object.values(CHANNEL_OF).map(name => [name, open(name)]));

const isListenedTo = ({ start, end, asyncStart, asyncEnd, error }: Channel): boolean =>
  start.hasSubscribers ||
  end.hasSubscribers ||
  asyncStart.hasSubscribers ||
  asyncEnd.hasSubscribers ||
  error.hasSubscribers;

/** Runs a call within its channel, and within what its tracers ask for. */
export async function traced<T>(trace: CallTrace & { run: Run }, work: () => Promise<T>): Promise<T> {
  const channel = channels.get(CHANNEL_OF[trace.operation]);
  if (!channel || !isListenedTo(channel)) return work();
  let result!: T;
  // Node adds what the promise resolves to, and a payment is customer data: so to nothing.
  const untold = async () => {
    result = await work();
  };
  await channel.tracePromise(() => trace.run(untold), trace);
  return result;
}
