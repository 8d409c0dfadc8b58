// The calls that the sandbox was sent, as they arrived and as they were answered.

import type { Answer } from '../answer.ts';
import type { EventBus } from '../event-bus.ts';
import type { CallFault } from '../faults/kinds.ts';

/** How a call ended: without an answer while it is under way, and where the connection was broken. */
interface End {
  answer?: Answer | undefined;
  fault?: CallFault | undefined;
  paymentId?: string | undefined;
}

/** A call, and its end as soon as it has one. */
export interface LoggedRequest extends End {
  /** Milliseconds since 1970, by the sandbox's clock. */
  at: number;
  method: string;
  path: string;
  /** Those that the document names; the key is masked. */
  headers: [name: string, value: string][];
  body: string;
  durationMs?: number;
}

/** How many of the latest calls are kept; each payment keeps the call that created it as well. */
const KEPT = 50;

export class RequestLog {
  #latest: LoggedRequest[] = [];
  #creates = new Map<string, LoggedRequest>();
  #life = new AbortController();
  readonly #events: EventBus;
  readonly #now: () => number;

  constructor(events: EventBus, now: () => number) {
    this.#events = events;
    this.#now = now;
  }

  /** The newest first. */
  get latest(): readonly LoggedRequest[] {
    return this.#latest.toReversed();
  }

  /** The call that created the payment. */
  creationOf(paymentId: string): LoggedRequest | undefined {
    return this.#creates.get(paymentId);
  }

  /** Aborted when the sandbox is reset: calls that are under way then leave no trace. */
  get life(): AbortSignal {
    return this.#life.signal;
  }

  clear(): void {
    this.#life.abort(new Error('the sandbox was reset'));
    this.#life = new AbortController();
    this.#latest = [];
    this.#creates = new Map();
  }

  /** @returns what to call at its end */
  begin(request: Request, body: Uint8Array) {
    const begun = performance.now();
    const { life } = this;
    const { method, headers } = request;
    const logged: LoggedRequest = {
      at: this.#now(),
      method,
      path: new URL(request.url).pathname,
      headers: shownOf(headers),
      body: new TextDecoder().decode(body),
    };
    this.#latest.push(logged);
    if (this.#latest.length > KEPT) this.#latest.shift();
    return ({ answer, fault, paymentId = answer?.paymentId }: End): void => {
      if (life.aborted) return;
      const durationMs = performance.now() - begun;
      Object.assign(logged, { durationMs, answer, fault, paymentId });
      if (paymentId && method === 'POST') this.#creates.set(paymentId, logged);
      const { path } = logged;
      const { status, message } = answer ?? {};
      this.#events.emit({ type: 'request', method, path, status, durationMs, paymentId, message, fault });
    };
  }
}

function shownOf(headers: Headers): [string, string][] {
  return ['authorization', 'signature', 'content-type'].flatMap(name => {
    const value = headers.get(name);
    if (value === null) return [];
    return [[name, name === 'authorization' ? masked(value) : value] as [string, string]];
  });
}

/** A merchant may have taken a live key by mistake. */
const masked = (authorization: string): string => authorization.replace(/\S+$/, '••••••••');
