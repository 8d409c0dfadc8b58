// The sandbox's one log: calls and callbacks by number, the timeline of each payment, and the listeners of its events.
import { notify } from '../telemetry/events.ts';
import type { Answer } from './answer.ts';
import type { Delivery } from './callbacks/delivery.ts';
import type { Call, Happening, SandboxEvent, SandboxListener } from './events.ts';
import type { CallFault } from './faults/kinds.ts';
import { SandboxError } from './sandbox-error.ts';

/** The number of latest calls that are kept. The create of each kept payment is kept too. */
const KEPT_CALLS = 500;
const KEPT_BYTES = 64 * 1024;
/** Events per payment. Above it, the oldest lookups make way: a merchant may poll for days. */
const KEPT_EVENTS = 500;
/** The number of latest events of all payments. */
export const KEPT_LATEST = 1_000;

/** The end of a call, without an answer after a broken connection. */
interface End {
  answer?: Answer | undefined;
  fault?: CallFault | undefined;
  paymentId?: string | undefined;
}

interface Numbered {
  id: number;
  durationMs?: number | undefined;
  error?: string;
}

export const isRunning = ({ durationMs, error }: Omit<Numbered, 'id'>): boolean =>
  durationMs === undefined && error === undefined;

/** A list numbered from 1. Above its limit, the oldest ended ones make way. */
export class Kept<T extends Numbered> {
  readonly #all = new Map<number, T>();
  readonly #limit: number;
  #lastId = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#all.size;
  }

  get all(): T[] {
    return [...this.#all.values()];
  }

  find(id: number): T | undefined {
    return this.#all.get(id);
  }

  /** Returns the latest ones, the newest first. */
  get latest(): T[] {
    return this.all.reverse();
  }

  add(fields: Omit<T, 'id'>): T {
    this.#lastId += 1;
    const one = { id: this.#lastId, ...fields } as T;
    this.#all.set(one.id, one);
    for (const oldest of this.#all.values()) {
      if (this.#all.size <= this.#limit || isRunning(oldest)) break;
      this.drop(oldest.id);
    }
    return one;
  }

  drop(id: number): void {
    this.#all.delete(id);
  }

  /** Replaces everything. */
  restore(all: readonly T[]): void {
    this.#all.clear();
    for (const one of all) this.#all.set(one.id, one);
    this.#lastId = Math.max(0, ...this.#all.keys());
  }
}

/** The log in a saved sandbox. */
export interface SavedLog {
  /** The bodies are in base64, because JSON has no bytes. */
  calls: readonly (Omit<Call, 'body'> & { body: string })[];
  deliveries: readonly Delivery[];
  events: readonly SandboxEvent[];
  timelines: readonly (readonly [paymentId: string, events: readonly SandboxEvent[]])[];
}

export class Log {
  readonly calls = new Kept<Call>(KEPT_CALLS);
  readonly deliveries: Kept<Delivery>;
  /** The latest events, in order of their ends. */
  #latest: SandboxEvent[] = [];
  readonly #creates = new Map<string, Call>();
  readonly #timelines = new Map<string, SandboxEvent[]>();
  readonly #listeners = new Set<SandboxListener>();
  readonly #now: () => number;
  #life = new AbortController();

  constructor(maxDeliveries: number, now: () => number) {
    this.deliveries = new Kept(maxDeliveries);
    this.#now = now;
  }

  /** Aborted by a reset. Work that still runs then leaves no trace. */
  get life(): AbortSignal {
    return this.#life.signal;
  }

  /** @returns a function that unsubscribes */
  subscribe(listener: SandboxListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Emits an event, dated now unless it has a time. */
  emit(happening: Happening & { at?: number }): void {
    const event = { at: this.#now(), ...happening };
    this.#latest.push(event);
    if (this.#latest.length > KEPT_LATEST) this.#latest.shift();
    const { paymentId } = event.type === 'callback' ? event.delivery : { paymentId: undefined, ...event };
    if (paymentId) this.#note(paymentId, event);
    for (const listener of this.#listeners) notify(listener, event);
  }

  /** Returns the kept calls and creates, the oldest first. */
  get everyCall(): Call[] {
    return [...new Set([...this.#creates.values(), ...this.calls.all])].sort((a, b) => a.id - b.id);
  }

  /** @throws {SandboxError} `unknown_call` */
  call(id: number): Call {
    const call = this.everyCall.find(call => call.id === id);
    if (call) return call;
    throw new SandboxError('unknown_call', `The sandbox has no call ${id}: it keeps the latest ${KEPT_CALLS}.`);
  }

  /** @throws {SandboxError} `unknown_delivery` */
  delivery(id: number): Delivery {
    const delivery = this.deliveries.find(id);
    if (delivery) return delivery;
    throw new SandboxError('unknown_delivery', `The sandbox has made no delivery ${id}.`);
  }

  /** Returns this many latest events, the oldest first. */
  latest(count: number): SandboxEvent[] {
    return count === 0 ? [] : this.#latest.slice(-count);
  }

  /** Returns the events of a payment in order of their ends. */
  history(paymentId: string): SandboxEvent[] {
    return [...(this.#timelines.get(paymentId) ?? [])];
  }

  /** Returns the events of a payment in order of time. A callback counts from its start. */
  timeline(paymentId: string): SandboxEvent[] {
    return this.history(paymentId).sort((a, b) => timeOf(a) - timeOf(b));
  }

  /** Returns the kept deliveries of a payment, the newest first. */
  deliveriesOf(paymentId: string): Delivery[] {
    return this.deliveries.latest.filter(delivery => delivery.paymentId === paymentId);
  }

  /** Logs a call. @returns the call, and a function to call at its end */
  begin(request: Request, body: Uint8Array, isPlayed = false): { call: Call; end(how: End): void } {
    const begun = performance.now();
    const { life } = this;
    const { pathname, search } = new URL(request.url);
    const call = this.calls.add({
      at: this.#now(),
      method: request.method,
      path: pathname + search,
      headers: [...request.headers].map(([name, value]) => [name, masked(name, value)]),
      body: body.subarray(0, KEPT_BYTES),
      bodyLength: body.length,
      ...(isPlayed && { isPlayed }),
    });
    const end = ({ answer, fault, paymentId = answer?.paymentId }: End): void => {
      if (life.aborted) return;
      const { status, headers = {}, body = '', isCut = false, message } = answer ?? {};
      const durationMs = performance.now() - begun;
      const shown = status && { status, headers: Object.entries(headers), body, isCut };
      Object.assign(call, { answer: shown, message, durationMs, fault, paymentId });
      this.#keepCreate(call);
      this.emit(eventOf(call));
    };
    return { call, end };
  }

  /** Logs a delivery. Changes to the returned one appear in the log. */
  post(fields: Omit<Delivery, 'id' | 'at'>): Delivery {
    return this.deliveries.add({ at: this.#now(), ...fields });
  }

  forget(paymentId: string): void {
    for (const { id } of this.deliveriesOf(paymentId)) this.deliveries.drop(id);
    this.#creates.delete(paymentId);
    this.#timelines.delete(paymentId);
  }

  clear(): void {
    this.#life.abort(new Error('the sandbox was reset'));
    this.#life = new AbortController();
    this.restore({ calls: [], deliveries: [], events: [], timelines: [] });
  }

  save(): SavedLog {
    return {
      calls: this.everyCall.map(({ body, ...call }) => ({ ...call, body: Buffer.from(body).toString('base64') })),
      deliveries: this.deliveries.all,
      events: this.#latest,
      timelines: [...this.#timelines],
    };
  }

  /** Replaces everything. */
  restore({ calls: saved, deliveries, events, timelines }: SavedLog): void {
    const calls = saved.map(({ body, ...call }) => ({ ...call, body: new Uint8Array(Buffer.from(body, 'base64')) }));
    this.calls.restore(calls.slice(-KEPT_CALLS));
    this.#creates.clear();
    for (const call of calls) this.#keepCreate(call);
    this.deliveries.restore(deliveries);
    this.#latest = [...events];
    this.#timelines.clear();
    for (const [paymentId, events] of timelines) this.#timelines.set(paymentId, [...events]);
  }

  #keepCreate(call: Call): void {
    if (call.method === 'POST' && call.paymentId) this.#creates.set(call.paymentId, call);
  }

  #note(paymentId: string, event: SandboxEvent): void {
    const events = this.#timelines.get(paymentId) ?? [];
    this.#timelines.set(paymentId, events);
    events.push(event);
    const lookup = events.findIndex(one => one.type === 'request' && one.method === 'GET');
    if (events.length > KEPT_EVENTS && lookup >= 0) events.splice(lookup, 1);
  }
}

/** Returns an event's time. A callback counts from its start, although it is reported at its end. */
const timeOf = (event: SandboxEvent): number => (event.type === 'callback' ? event.delivery.at : event.at);

/** Returns the event of an ended call. */
function eventOf(call: Call): Extract<SandboxEvent, { type: 'request' }> {
  const { id: callId, at, method, path, answer, durationMs = 0, paymentId, message, fault, isPlayed, signature } = call;
  const { status } = answer ?? {};
  const event = { type: 'request', at, callId, method, path, status, durationMs, paymentId, message, fault } as const;
  const correction = message === undefined || message !== signature?.problem ? undefined : signature.correction;
  return { ...event, ...(correction && { correction }), ...(isPlayed && { isPlayed }) };
}

/** Masks credentials: a merchant may have used a live key by mistake. */
const masked = (name: string, value: string): string =>
  name === 'authorization' || name === 'cookie' ? value.replace(/\S+$/, '••••••••') : value;
