// The sandbox's log of calls, callbacks and events.
import { notify } from '../../telemetry/events.ts';
import type { Answer } from '../answer.ts';
import type { Delivery } from '../callbacks/delivery.ts';
import { SandboxError } from '../sandbox-error.ts';
import type { Call, Happening, SandboxEvent, SandboxListener } from './events.ts';

const KEPT_CALLS = 1_000;
const KEPT_BYTES = 64 * 1024;
const KEPT_EVENTS = 10_000;

export const isRunning = ({ durationMs, error }: { durationMs?: number | undefined; error?: string }): boolean =>
  durationMs === undefined && error === undefined;

/**
 * Makes room first, because the last entry must be the newest. Lookups make way before others, because a merchant may
 * poll for days, then the oldest. Running ones stay.
 */
function add<T extends object>(list: T[], limit: number, added: T, stays: (one: T) => boolean = () => false): void {
  while (list.length >= limit) {
    const lookup = list.findIndex(one => 'method' in one && one.method === 'GET' && !stays(one));
    const dropped = lookup < 0 ? list.findIndex(one => !stays(one)) : lookup;
    if (dropped < 0) break;
    list.splice(dropped, 1);
  }
  list.push(added);
}

const nextIdIn = (list: readonly { id: number }[]) => (list.at(-1)?.id ?? 0) + 1;

export interface SavedLog {
  /** With bodies in base64. */
  calls: readonly (Omit<Call, 'body'> & { body: string })[];
  deliveries: readonly Delivery[];
  events: readonly SandboxEvent[];
}

export class Log {
  /** In order of arrival. */
  calls: Call[] = [];
  /** In order of posting. */
  deliveries: Delivery[] = [];
  /** In order of their ends. */
  events: SandboxEvent[] = [];
  readonly #listeners = new Set<SandboxListener>();
  readonly #maxDeliveries: number;
  readonly #now: () => number;
  /** Aborted by a reset, so that running work leaves no trace. */
  life = new AbortController();

  constructor(maxDeliveries: number, now: () => number) {
    this.#maxDeliveries = maxDeliveries;
    this.#now = now;
  }

  subscribe(listener: SandboxListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  emit(happening: Happening & { at?: number }): void {
    const event = { at: this.#now(), ...happening };
    add(this.events, KEPT_EVENTS, event);
    for (const listener of this.#listeners) notify(listener, event);
  }

  call(id: number): Call {
    const call = this.calls.find(one => one.id === id);
    if (call) return call;
    throw new SandboxError('unknown_call', `The sandbox has no call ${id}: it keeps the latest ${KEPT_CALLS}.`);
  }

  delivery(id: number): Delivery {
    const delivery = this.deliveries.find(one => one.id === id);
    if (delivery) return delivery;
    throw new SandboxError('unknown_delivery', `The sandbox has made no delivery ${id}.`);
  }

  history(paymentId: string): SandboxEvent[] {
    return this.events.filter(event => paymentOf(event) === paymentId);
  }

  timeline(paymentId: string): SandboxEvent[] {
    return this.history(paymentId).sort((a, b) => a.at - b.at);
  }

  deliveriesOf(paymentId: string): Delivery[] {
    return this.deliveries.filter(delivery => delivery.paymentId === paymentId).reverse();
  }

  /** Logs a call. @returns the call, and the function for its end, without an answer after a broken connection */
  begin(request: Request, body: Uint8Array, isPlayed = false) {
    const begun = performance.now();
    const { signal: life } = this.life;
    const { pathname, search } = new URL(request.url);
    const call: Call = {
      id: nextIdIn(this.calls),
      at: this.#now(),
      method: request.method,
      path: pathname + search,
      headers: [...request.headers].map(([name, value]) => [name, masked(name, value)]),
      body: body.subarray(0, KEPT_BYTES),
      bodyLength: body.length,
      ...(isPlayed && { isPlayed }),
    };
    add(this.calls, KEPT_CALLS, call, isRunning);
    const end = (answer?: Answer) => {
      if (life.aborted) return;
      const { status, headers = {}, body = '', isCut = false, message } = answer ?? {};
      const shown = status && { status, headers: Object.entries(headers), body, isCut };
      Object.assign(call, { answer: shown, message, durationMs: performance.now() - begun });
      this.emit(eventOf(call));
    };
    return { call, end };
  }

  /** Logs a delivery, which can still change. */
  post(fields: Omit<Delivery, 'id' | 'at'>): Delivery {
    const delivery = { id: nextIdIn(this.deliveries), at: this.#now(), ...fields };
    add(this.deliveries, this.#maxDeliveries, delivery, isRunning);
    return delivery;
  }

  clear(): void {
    this.life.abort(new Error('the sandbox was reset'));
    this.life = new AbortController();
    this.restore({ calls: [], deliveries: [], events: [] });
  }

  save(): SavedLog {
    const calls = this.calls.map(({ body, ...call }) => ({ ...call, body: Buffer.from(body).toString('base64') }));
    return { calls, deliveries: this.deliveries, events: this.events };
  }

  restore({ calls, deliveries, events }: SavedLog): void {
    this.calls = calls.map(({ body, ...call }) => ({ ...call, body: new Uint8Array(Buffer.from(body, 'base64')) }));
    this.deliveries = [...deliveries];
    this.events = [...events];
  }
}

const paymentOf = (event: SandboxEvent) =>
  event.type === 'callback' ? event.delivery.paymentId : 'paymentId' in event ? event.paymentId : undefined;

function eventOf({ id: callId, answer, durationMs = 0, signature, ...call }: Call): SandboxEvent {
  const { at, method, path, paymentId, message, fault, isPlayed } = call;
  const event = { type: 'request', at, callId, method, path, status: answer?.status, durationMs, paymentId } as const;
  const correction = message === signature?.problem ? signature?.correction : undefined;
  return { ...event, message, fault, correction, isPlayed };
}

/** A merchant may have used a live key by mistake. */
const masked = (name: string, value: string) =>
  name === 'authorization' || name === 'cookie' ? value.replace(/\S+$/, '••••••••') : value;
