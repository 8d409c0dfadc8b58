// The state of one call, and its reports to `onEvent` and to tracers.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { tracingChannel } from 'node:diagnostics_channel';
import { since } from '../deadline.ts';
import { type ApiError, isGatewayError } from '../errors.ts';
import { type CallStep, type CallTrace, type Failure, type GatewayEvent, notify, type Success } from './events.ts';

type Run = Parameters<CallTrace['runIn']>[0];
type Caller = { baseUrl?: string | undefined; onEvent?: ((event: GatewayEvent) => void) | undefined };

const channelOf = (name: string) => tracingChannel<unknown, CallTrace>(`payment-gateway-sdk:${name}`);
const STORE = channelOf('store');
export const CHANNELS = {
  create: channelOf('create'),
  lookup: channelOf('lookup'),
  callback: channelOf('callback'),
  settle: STORE,
  upkeep: STORE,
};

/** Ends a call that did nothing, without a report. */
export class NothingDone extends Error {}

export class Call implements CallTrace {
  readonly callId: string;
  readonly operation: CallTrace['operation'];
  readonly baseUrl: string | undefined;
  attempt = 0;
  declare reference?: string | undefined;
  declare paymentId?: string | undefined;
  declare lane?: CallTrace['lane'];
  declare httpStatus?: number | undefined;
  readonly #onEvent: Caller['onEvent'];
  readonly #begun = performance.now();
  #runIn: Run = work => work();

  /** @param cause the call that makes this one, and shares its id */
  constructor(operation: CallTrace['operation'], { baseUrl, onEvent }: Caller = {}, cause?: Call) {
    this.operation = operation;
    this.baseUrl = baseUrl;
    this.#onEvent = onEvent;
    this.callId = cause?.callId ?? randomUUID();
  }

  get durationMs(): number {
    return since(this.#begun);
  }

  /** Keeps the context of a tracer, but gives it a snapshot instead of the work, which may pay. Ignores its errors. */
  runIn(run: Run): void {
    try {
      this.#runIn = this.#runIn(() => run(() => AsyncLocalStorage.snapshot())) ?? this.#runIn;
    } catch {}
  }

  emit(step: CallStep & Pick<CallTrace, 'reference' | 'paymentId'>): void {
    if (!this.#onEvent) return;
    const { callId, operation, reference, paymentId, attempt, durationMs } = this;
    notify(this.#onEvent, { callId, operation, reference, paymentId, attempt, durationMs, ...step });
  }

  /** Runs the call, and reports its end. */
  conclude<T>(work: () => Promise<T>, factsOf?: (result: T) => Partial<Success>): Promise<T> {
    return this.traced(async () => {
      try {
        const result = await work();
        const { counts, ...facts } = { outcome: 'ok', ...factsOf?.(result) } as const;
        Object.assign(this, facts);
        this.emit({ type: 'success', counts, ...facts });
        return result;
      } catch (error) {
        if (error instanceof NothingDone) throw error;
        const { paymentId = this.paymentId, ...failure } = failureOf(error);
        Object.assign(this, { outcome: failure.outcome ?? 'failed', code: failure.code, paymentId });
        this.emit({ type: 'failure', ...failure });
        throw error;
      }
    });
  }

  /** Drops the result that Node adds: it has customer data. */
  set result(_: unknown) {}

  /** Runs work in a trace, within the contexts of its tracers. */
  traced<T>(work: () => Promise<T>): Promise<T> {
    return CHANNELS[this.operation].tracePromise(() => this.#runIn(work), this);
  }
}

/** Returns the facts that are safe to report. A message may contain anything. */
function failureOf(thrown: unknown): Failure {
  if (isGatewayError(thrown)) {
    const { name: error, code, outcome, paymentId, status, requestId } = thrown as ApiError;
    return { error, code, outcome, paymentId, status, requestId };
  }
  const { name, code } = thrown instanceof Error ? (thrown as Error & { code?: unknown }) : { name: typeof thrown };
  return { error: name, code: typeof code === 'string' && /^\w{1,40}$/.test(code) ? code : 'failed' };
}

/** Returns a label without customer data, such as `TypeError` or `Error (23505)`. */
export function labelOf(thrown: unknown): string {
  const { error, code } = failureOf(thrown);
  return code === 'failed' ? error : `${error} (${code})`;
}
