// The calls that the sandbox was sent, as they arrived and as they were answered.
import type { Answer } from './answer.ts';
import type { Feed } from './events.ts';
import type { CallFault } from './fault-kinds.ts';

export interface Call {
  /** Milliseconds since 1970, by the sandbox's clock. */
  at: number;
  method: string;
  path: string;
  /** Those that the document names; the key is masked. */
  headers: [name: string, value: string][];
  body: string;
  fault?: CallFault | undefined;
  durationMs?: number;
  /** Absent while it is under way, and where the connection was broken. */
  answer?: Answer | undefined;
  paymentId?: string | undefined;
}

/** How a call ended: without an answer where the connection was broken. */
interface CallEnd {
  answer?: Answer | undefined;
  fault?: CallFault | undefined;
  paymentId?: string | undefined;
}

/** How many of the latest calls are kept; each payment keeps the call that created it as well. */
const KEPT = 50;

export class Calls {
  #latest: Call[] = [];
  #creates = new Map<string, Call>();
  #life = new AbortController();
  readonly #feed: Feed;
  readonly #now: () => number;

  constructor(feed: Feed, now: () => number) {
    this.#feed = feed;
    this.#now = now;
  }

  /** The newest first. */
  get latest(): readonly Call[] {
    return this.#latest.toReversed();
  }

  /** The call that created the payment. */
  creating(paymentId: string): Call | undefined {
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
    const shown = ['authorization', 'signature', 'content-type'].flatMap(name => {
      const value = headers.get(name);
      return value === null
        ? []
        : [[name, name === 'authorization' ? masked(value) : value] as [string, string]];
    });
    const call: Call = {
      at: this.#now(),
      method,
      path: new URL(request.url).pathname,
      headers: shown,
      body: new TextDecoder().decode(body),
    };
    this.#latest.push(call);
    if (this.#latest.length > KEPT) this.#latest.shift();
    return ({ answer, fault, paymentId = answer?.paymentId }: CallEnd): void => {
      if (life.aborted) return;
      const durationMs = performance.now() - begun;
      Object.assign(call, { durationMs, answer, fault, paymentId });
      if (paymentId && method === 'POST') this.#creates.set(paymentId, call);
      this.#feed.emit({
        type: 'request',
        method,
        path: call.path,
        status: answer?.status,
        durationMs,
        paymentId,
        message: answer?.message,
        fault,
      });
    };
  }
}

/** A merchant may have taken a live key by mistake. */
const masked = (authorization: string): string => authorization.replace(/\S+$/, '••••••••');
