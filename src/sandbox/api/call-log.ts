// Logs the calls to the sandbox as they arrived, with their answers.
import type { Answer } from '../answer.ts';
import type { EventBus } from '../event-bus.ts';
import type { CallFault } from '../faults/kinds.ts';
import { SandboxError } from '../sandbox-error.ts';
import type { SignatureCheck } from './signature.ts';

/** A call, with its end once it has ended. */
export interface Call {
  /** A number in order of arrival, from 1. */
  id: number;
  /** Milliseconds since 1970, by the sandbox's clock. */
  at: number;
  method: string;
  /** The path with its query. */
  path: string;
  /** The headers as they arrived, with credentials masked. */
  headers: [name: string, value: string][];
  /** The exact bytes, up to 64 KiB. */
  body: Uint8Array;
  /** The length of the whole body in bytes. */
  bodyLength: number;
  /** The answer. Absent while the call runs, and after a broken connection. */
  answer?: { status: number; headers: [name: string, value: string][]; body: string; isCut: boolean } | undefined;
  /** The reason for a refusal. */
  message?: string | undefined;
  /** Absent while the call runs. */
  durationMs?: number | undefined;
  /** The injected fault. */
  fault?: CallFault | undefined;
  /** The payment that the call made or read. */
  paymentId?: string | undefined;
  /** Whether the call carried the API key of this terminal. Absent for an unknown address. */
  hasRightKey?: boolean | undefined;
  /** Whether a scenario made the call, instead of the merchant. */
  isPlayed?: boolean | undefined;
  /** The signature check of a create. */
  signature?: SignatureCheck | undefined;
}

/** The end of a call, without an answer after a broken connection. */
interface End {
  answer?: Answer | undefined;
  fault?: CallFault | undefined;
  paymentId?: string | undefined;
}

/** The number of latest calls that are kept. The create of each kept payment is kept too. */
export const KEPT_CALLS = 500;
const KEPT_BYTES = 64 * 1024;

export class CallLog {
  readonly #latest = new Map<number, Call>();
  readonly #creates = new Map<string, Call>();
  #nextId = 1;
  #life = new AbortController();
  readonly #events: EventBus;
  readonly #now: () => number;

  constructor(events: EventBus, now: () => number) {
    this.#events = events;
    this.#now = now;
  }

  /** Returns the latest calls, the newest first. */
  get latest(): Call[] {
    return [...this.#latest.values()].reverse();
  }

  get size(): number {
    return this.#latest.size;
  }

  /** @throws {SandboxError} `unknown_call` */
  get(id: number): Call {
    const call = this.#latest.get(id) ?? [...this.#creates.values()].find(create => create.id === id);
    if (call) return call;
    throw new SandboxError('unknown_call', `The sandbox has no call ${id}: it keeps the latest ${KEPT_CALLS}.`);
  }

  creationOf(paymentId: string): Call | undefined {
    return this.#creates.get(paymentId);
  }

  /** Returns all kept calls, in order of arrival. */
  get kept(): Call[] {
    const calls = new Map([...this.#creates.values(), ...this.#latest.values()].map(call => [call.id, call]));
    return [...calls.values()].sort((a, b) => a.id - b.id);
  }

  /** Aborted by a reset. Calls that still run then leave no trace. */
  get life(): AbortSignal {
    return this.#life.signal;
  }

  clear(): void {
    this.#life.abort(new Error('the sandbox was reset'));
    this.#life = new AbortController();
    this.#latest.clear();
    this.#creates.clear();
    this.#nextId = 1;
  }

  /** Forgets the create of a forgotten payment. */
  forget(paymentId: string): void {
    this.#creates.delete(paymentId);
  }

  restore(calls: readonly Call[]): void {
    for (const call of calls) this.#keep(call);
    this.#nextId = Math.max(0, ...calls.map(({ id }) => id)) + 1;
  }

  /** @returns the call, and a function to call at its end */
  begin(request: Request, body: Uint8Array, isPlayed = false): { call: Call; end(how: End): void } {
    const begun = performance.now();
    const { life } = this;
    const { pathname, search } = new URL(request.url);
    const call: Call = {
      id: this.#nextId,
      at: this.#now(),
      method: request.method,
      path: pathname + search,
      headers: [...request.headers].map(([name, value]) => [name, masked(name, value)]),
      body: body.subarray(0, KEPT_BYTES),
      bodyLength: body.length,
      ...(isPlayed && { isPlayed }),
    };
    this.#nextId += 1;
    this.#keep(call);
    const end = ({ answer, fault, paymentId = answer?.paymentId }: End): void => {
      if (life.aborted) return;
      const { id, at, method, path } = call;
      const durationMs = performance.now() - begun;
      const { status, message } = answer ?? {};
      Object.assign(call, { answer: answer && shownOf(answer), message, durationMs, fault, paymentId });
      this.#keep(call);
      this.#events.emit({
        type: 'request',
        callId: id,
        at,
        method,
        path,
        status,
        durationMs,
        paymentId,
        message,
        fault,
        ...(isPlayed && { isPlayed }),
      });
    };
    return { call, end };
  }

  #keep(call: Call): void {
    const { id, method, paymentId } = call;
    if (paymentId && method === 'POST') this.#creates.set(paymentId, call);
    this.#latest.set(id, call);
    for (const [oldest] of this.#latest) {
      if (this.#latest.size <= KEPT_CALLS) break;
      this.#latest.delete(oldest);
    }
  }
}

const shownOf = ({ status, headers = {}, body, isCut = false }: Answer): Call['answer'] => ({
  status,
  headers: Object.entries(headers),
  body,
  isCut,
});

/** Masks credentials: a merchant may have used a live key by mistake. */
const masked = (name: string, value: string): string =>
  name === 'authorization' || name === 'cookie' ? value.replace(/\S+$/, '••••••••') : value;
