// The state of one call, and its reports to `onEvent` and, over Node's tracing channels, to tracers.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { tracingChannel } from 'node:diagnostics_channel';
import { since } from '../deadline.ts';
import { type ApiError, isGatewayError } from '../errors.ts';
import { type CallStep, type CallTrace, type Failure, type GatewayEvent, notify, type Success } from './events.ts';

interface Caller {
  baseUrl?: string | undefined;
  onEvent?: ((event: GatewayEvent) => void) | undefined;
}

type Run = Parameters<CallTrace['runIn']>[0];

const channelOf = (name: string) => tracingChannel<unknown, CallTrace>(`payment-gateway-sdk:${name}`);
const STORE = channelOf('store');
export const CHANNELS = {
  create: channelOf('create'),
  lookup: channelOf('lookup'),
  callback: channelOf('callback'),
  settle: STORE,
  upkeep: STORE,
};

/** Ends a call that did nothing: it is reported neither as a success nor as a failure. */
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
  #run: Run = work => work();

  /** @param cause the call that makes this one, and shares its id */
  constructor(operation: CallTrace['operation'], { baseUrl, onEvent }: Caller, cause?: Call) {
    this.operation = operation;
    this.baseUrl = baseUrl;
    this.#onEvent = onEvent;
    this.callId = cause?.callId ?? randomUUID();
  }

  get durationMs(): number {
    return since(this.#begun);
  }

  /** Keeps the context in which `run` calls back. No tracer gets the work itself: it may pay. */
  runIn(run: Run): void {
    try {
      this.#run = this.#run(() => run(() => AsyncLocalStorage.snapshot())) ?? this.#run;
    } catch {
      // Errors of the tracer are ignored.
    }
  }

  emit(step: CallStep & Pick<CallTrace, 'reference' | 'paymentId'>): void {
    if (!this.#onEvent) return;
    const { callId, operation, reference, paymentId, attempt, durationMs } = this;
    notify(this.#onEvent, { callId, operation, reference, paymentId, attempt, durationMs, ...step });
  }

  /** Runs the call to its end, and reports it. */
  conclude<T>(work: () => Promise<T>, factsOf: (result: T) => Partial<Success> = () => ({})): Promise<T> {
    return this.traced(async () => {
      try {
        const result = await work();
        const { counts, ...facts } = { outcome: 'ok', ...factsOf(result) } as const;
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

  /** Drops the result that Node adds to a trace: a payment is customer data. */
  set result(_: unknown) {}

  /** Runs work in a trace, within the contexts that tracers request. */
  traced<T>(work: () => Promise<T>): Promise<T> {
    return CHANNELS[this.operation].tracePromise(() => this.#run(work), this);
  }
}

/** A code of a system, a database or a driver. */
const CODE = /^\w{1,40}$/;

/** Returns the facts that are safe to report. The message of an error outside the SDK may contain anything. */
function failureOf(thrown: unknown): Failure {
  if (isGatewayError(thrown)) {
    const { name: error, code, outcome, paymentId, status, requestId } = thrown as ApiError;
    return { error, code, outcome, paymentId, status, requestId };
  }
  const { name, code } = thrown instanceof Error ? (thrown as Error & { code?: unknown }) : { name: typeof thrown };
  return { error: name, code: typeof code === 'string' && CODE.test(code) ? code : 'failed' };
}

/** Returns a short label without customer data, such as `TypeError` or `Error (23505)`. */
export function labelOf(thrown: unknown): string {
  const { error, code } = failureOf(thrown);
  return code === 'failed' ? error : `${error} (${code})`;
}
