// Brings back the gateway's answer to one call. The only file that knows ky, which carries out the attempts in time.
import ky, { TimeoutError } from 'ky';
import { type Answer, Attempts, type Exchange, type Fetch, LateError } from './attempts.ts';
import { adviceOn, ConnectionError } from './errors.ts';
import { type EventListener, nameOf, observe } from './events.ts';
import { codeOf, safeCause } from './failure.ts';
import { findPaymentId } from './payment-id.ts';
import { type Deadline, since } from './time.ts';

export interface TransportOptions {
  fetch?: Fetch | undefined;
  retries: number;
  onEvent?: EventListener | undefined;
}

/** Statuses that say "later". Only lookups believe them: a create may have been accepted all the same. */
const BUSY: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Milliseconds. */
const FIRST_BACKOFF = 300;
const LONGEST_BACKOFF = 5_000;
const LONGEST_RETRY_AFTER = 10_000;

export class Transport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /**
   * The gateway's answer, whatever its status. A lookup is repeated while the gateway is busy or out of reach; a
   * create only when it provably never left this machine.
   *
   * @param deadline for every attempt, wait and body read
   * @throws {ConnectionError} if no whole answer arrived
   */
  async send(exchange: Exchange, deadline: Deadline, signal: AbortSignal | undefined): Promise<Answer> {
    const { fetch, retries, onEvent } = this.#options;
    const isLookup = exchange.method === 'GET';
    const attempts = new Attempts(exchange, deadline, fetch, onEvent);
    const isWorthRepeating = () =>
      attempts.answer ? isLookup && BUSY.has(attempts.answer.status) : isLookup || !attempts.mayHaveLeft;
    let failedAt = 0;
    let wait = 0;
    const failure = await ky(exchange.url, {
      method: exchange.method,
      // Headers and body stay out of ky, so that no error of its can show them, and the bytes sent are those signed.
      fetch: async input => standInFor(await attempts.next((input as Request).signal)),
      timeout: false,
      totalTimeout: Math.max(deadline.monotonic - performance.now(), 0),
      signal: signal ?? null,
      retry: {
        limit: retries,
        methods: ['get', 'post'],
        shouldRetry: ({ error }) => {
          failedAt = performance.now();
          if (signal?.aborted || isLate(error)) return false;
          wait = retryAfter(attempts.answer) ?? backoff(attempts.count);
          // A wait that ends after the deadline would be waited for nothing.
          return isWorthRepeating() && failedAt + wait < deadline.monotonic;
        },
        delay: () => wait,
      },
      hooks: {
        beforeRetry: [
          () => {
            const reason = attempts.answer?.status ?? codeOf(attempts.failure);
            const attempt = attempts.count + 1;
            observe(onEvent, { ...exchange.call, type: 'retry', attempt, reason, waitedMs: since(failedAt) });
          },
        ],
      },
    }).then(
      () => undefined,
      (error: unknown) => error,
    );
    const timedOut = isLate(failure);
    const aborted = !timedOut && failure !== undefined && signal?.aborted;
    // An answer with an error status is an answer all the same.
    if (attempts.answer && !aborted) return attempts.answer;
    const code = timedOut ? 'timeout' : aborted ? 'aborted' : codeOf(attempts.failure);
    throw connectionError(code, exchange, attempts);
  }
}

const isLate = (error: unknown): boolean => error instanceof TimeoutError || error instanceof LateError;

/** All that ky looks at. A status that no Response can have is an error to it, as to us. */
const standInFor = ({ status }: Answer): Response =>
  new Response(null, { status: status >= 200 && status <= 599 ? status : 599 });

/** Exponential, with full jitter: milliseconds before the attempt after this many. */
const backoff = (attempts: number): number =>
  Math.random() * Math.min(FIRST_BACKOFF * 2 ** (attempts - 1), LONGEST_BACKOFF);

/** Milliseconds that the gateway asks to wait, at most {@link LONGEST_RETRY_AFTER}. */
function retryAfter({ retryAfter: asked }: Partial<Answer> = {}): number | undefined {
  if (asked === undefined) return undefined;
  const wait = /^\d+$/.test(asked) ? Number(asked) * 1000 : Date.parse(asked) - Date.now();
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), LONGEST_RETRY_AFTER);
}

function connectionError(code: string, exchange: Exchange, attempts: Attempts): ConnectionError {
  const { call } = exchange;
  const outcome = call.operation === 'create' ? (attempts.mayHaveLeft ? 'unknown' : 'not_sent') : undefined;
  const paymentId = call.paymentId ?? findPaymentId(attempts.received);
  const advice = outcome ? adviceOn(outcome, paymentId) : 'A lookup changes nothing: it is safe to repeat.';
  const cause = code === 'timeout' ? undefined : safeCause(attempts.failure, secretsOf(exchange));
  const message = `No whole answer to ${nameOf(call)} (${code}). ${advice}`;
  return new ConnectionError(message, code, { cause, outcome, paymentId });
}

/** What a careless fetch could have put into the words of its error. */
function secretsOf({ headers }: Exchange): string[] {
  const { authorization = '', signature } = headers;
  return [authorization.replace(/^Bearer /, ''), ...(signature ? [signature] : [])];
}
