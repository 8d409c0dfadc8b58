// The state of one call, and its reports to `onEvent` and to tracers.
import { since } from '../deadline.ts';
import { type ApiError, type GatewayError, isGatewayError } from '../errors.ts';
import { type CallTrace, type Run, traced } from './channels.ts';
import {
  type CallFacts,
  type EventListener,
  type GatewayEvent,
  notify,
  type Operation,
  type Success,
} from './events.ts';

/** The fields of an event itself. The call adds its own facts. */
type Told = DistributiveOmit<GatewayEvent, keyof CallFacts> & Pick<Partial<CallFacts>, 'reference' | 'paymentId'>;

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** The client that makes the call. */
interface Caller {
  baseUrl?: string | undefined;
  onEvent?: EventListener | undefined;
}

/** Distinguishes processes in logs. Nothing depends on it. */
const PROCESS = Math.random().toString(36).slice(2, 10);
let calls = 0;

/** Ends a call without an event, neither as a success nor as a failure. */
export class Untold extends Error {}

/** One call, as reported to `onEvent` and to tracers. */
export class Call implements CallTrace {
  readonly callId: string;
  readonly operation: Operation;
  readonly baseUrl: string | undefined;
  attempt = 0;
  declare reference?: string | undefined;
  declare paymentId?: string | undefined;
  declare paymentType?: string | undefined;
  declare paymentMethod?: string | undefined;
  declare paymentStatus?: string | undefined;
  declare lane?: CallTrace['lane'];
  declare httpStatus?: number | undefined;
  declare outcome?: CallTrace['outcome'];
  declare code?: string | undefined;
  readonly #onEvent: EventListener | undefined;
  readonly #begun = performance.now();
  #run: Run = work => work();

  /** @param cause the call that makes this one, and shares its id */
  constructor(operation: Operation, { baseUrl, onEvent }: Caller, cause?: Call) {
    this.operation = operation;
    this.baseUrl = baseUrl;
    this.#onEvent = onEvent;
    calls += 1;
    this.callId = cause?.callId ?? `${PROCESS}-${calls.toString(36)}`;
  }

  /** Milliseconds since the call began. */
  get durationMs(): number {
    return since(this.#begun);
  }

  runIn(run: Run): void {
    const outer = this.#run;
    this.#run = work => outer(() => runOnce(run, work));
  }

  /** Runs work in the contexts that tracers requested. */
  run<T>(work: () => T): T {
    return this.#run(work);
  }

  tell(told: Told): void {
    if (!this.#onEvent) return;
    const { callId, operation, reference, paymentId, attempt, durationMs } = this;
    notify(this.#onEvent, { callId, operation, reference, paymentId, attempt, durationMs, ...told });
  }

  /**
   * Runs the call to its end and reports it.
   *
   * @param isEndless whether it may last as long as the process: without a trace, which would contain all that runs
   */
  async conclude<T>(
    work: () => Promise<T>,
    describe: (result: T) => Partial<Success & CallFacts> = () => ({}),
    isEndless = false,
  ): Promise<T> {
    const told = async () => {
      try {
        const result = await work();
        this.#succeed(describe(result));
        return result;
      } catch (error) {
        if (!(error instanceof Untold)) this.#fail(error);
        throw error;
      }
    };
    return isEndless ? told() : traced(this, told);
  }

  #succeed({ outcome = 'ok', paymentStatus, paymentId = this.paymentId, counts }: Partial<Success & CallFacts>): void {
    Object.assign(this, { outcome, paymentStatus, paymentId });
    this.tell({ type: 'success', outcome, paymentStatus, counts });
  }

  #fail(error: unknown): void {
    const { name, code, outcome, paymentId = this.paymentId, status, requestId } = factsOf(error);
    Object.assign(this, { outcome: outcome ?? 'failed', code, paymentId });
    this.tell({ type: 'failure', error: name, code, outcome, status, requestId });
  }
}

/** Runs the work once, even if a tracer throws, forgets it or runs it twice: the work may pay. */
function runOnce<T>(run: Run, work: () => T): T {
  let ran: { result: T } | undefined;
  const once = () => {
    ran ??= { result: work() };
    return ran.result;
  };
  try {
    run(once);
  } catch {
    // Errors of the tracer are ignored.
  }
  return once();
}

type Facts = Omit<ApiError, 'name' | 'code'> & { name: string; code: string };

/** A code of a system, a database or a driver. */
const CODE = /^\w{1,40}$/;

/** Returns the facts that are safe to report. The message of an error outside the SDK may contain anything. */
function factsOf(error: unknown): Partial<Facts> & Pick<Facts, 'name' | 'code'> {
  if (isGatewayError(error)) return error as GatewayError & Partial<Facts>;
  const { name, code } = error instanceof Error ? (error as Error & { code?: unknown }) : { name: typeof error };
  return { name, code: typeof code === 'string' && CODE.test(code) ? code : 'failed' };
}

/** Returns a short label without customer data, such as `TypeError` or `Error (23505)`. */
export function labelOf(error: unknown): string {
  const { name, code } = factsOf(error);
  return code === 'failed' ? name : `${name} (${code})`;
}
