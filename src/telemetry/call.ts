// One call of the merchant's: what is known of it while it goes on, and who is told.
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

/** What an event tells of its own; beside it the call is told. */
type Told = DistributiveOmit<GatewayEvent, keyof CallFacts> & Pick<Partial<CallFacts>, 'reference' | 'paymentId'>;

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** Whose call it is. */
interface Caller {
  baseUrl?: string | undefined;
  onEvent?: EventListener | undefined;
}

/** Tells processes apart in logs; nothing depends on it. */
const PROCESS = Math.random().toString(36).slice(2, 10);
let calls = 0;

/** How a call of ours ends that is neither a success nor a failure: nobody is told. */
export class Untold extends Error {}

/** One call, as it is told to `onEvent` and to tracers. */
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

  /** @param cause the call that this one is made for, whose id it has */
  constructor(operation: Operation, { baseUrl, onEvent }: Caller, cause?: Call) {
    this.operation = operation;
    this.baseUrl = baseUrl;
    this.#onEvent = onEvent;
    calls += 1;
    this.callId = cause?.callId ?? `${PROCESS}-${calls.toString(36)}`;
  }

  /** Milliseconds. */
  get durationMs(): number {
    return since(this.#begun);
  }

  runIn(run: Run): void {
    const outer = this.#run;
    this.#run = work => outer(() => runOnce(run, work));
  }

  /** In the contexts that tracers have asked for. */
  run<T>(work: () => T): T {
    return this.#run(work);
  }

  tell(told: Told): void {
    if (!this.#onEvent) return;
    const { callId, operation, reference, paymentId, attempt, durationMs } = this;
    notify(this.#onEvent, { callId, operation, reference, paymentId, attempt, durationMs, ...told });
  }

  /**
   * Runs the call to its end, and tells that.
   *
   * @param isEndless what ends with the process has no trace: it would hold everything that the process does
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

/** A tracer that throws, forgets the work, or runs it twice, changes nothing: what it runs may pay. */
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

/** What an error of the SDK may have. */
type Facts = Omit<ApiError, 'name' | 'code'> & { name: string; code: string };

/** Of a system, a database or a driver. */
const CODE = /^\w{1,40}$/;

/** What may be told of an error. Whatever is not the SDK's own may hold anything in its message. */
function factsOf(error: unknown): Partial<Facts> & Pick<Facts, 'name' | 'code'> {
  if (isGatewayError(error)) return error as GatewayError & Partial<Facts>;
  const { name, code } = error instanceof Error ? (error as Error & { code?: unknown }) : { name: typeof error };
  return { name, code: typeof code === 'string' && CODE.test(code) ? code : 'failed' };
}

/** An error in a few words, none of which can be a customer's: `TypeError`, `Error (23505)`. */
export function labelOf(error: unknown): string {
  const { name, code } = factsOf(error);
  return code === 'failed' ? name : `${name} (${code})`;
}
