// Brings back the gateway's answer to one call. The only file that knows ky, which decides when to try again.
import ky, { TimeoutError } from 'ky';
import { type Answer, Attempts, type Exchange, type Fetch } from './attempts.ts';
import { adviceOn, ConnectionError } from './errors.ts';
import { type EventListener, nameOf, observe, since } from './events.ts';
import { codeOf, safeCause } from './failure.ts';
import { findPaymentId } from './payment-id.ts';

export interface TransportOptions {
  fetch?: Fetch | undefined;
  retries: number;
  onEvent?: EventListener | undefined;
}

export interface Limits {
  /** Milliseconds for the whole call: every attempt, wait and body read. */
  timeout: number;
  signal?: AbortSignal | undefined;
}

/** Statuses that say "later". Only lookups believe them: a create may have been accepted all the same. */
const BUSY = [408, 425, 429, 500, 502, 503, 504];
const LONGEST_RETRY_AFTER = 10_000;
const LONGEST_BACKOFF = 5_000;

export class Transport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /**
   * The gateway's answer, whatever its status. A lookup is repeated while the gateway is busy or out of reach; a
   * create only when it provably never left this machine.
   *
   * @throws {ConnectionError} if no whole answer arrived
   */
  async send(exchange: Exchange, { timeout, signal }: Limits): Promise<Answer> {
    const { fetch, retries, onEvent } = this.#options;
    const isLookup = exchange.method === 'GET';
    const deadline = performance.now() + timeout;
    const attempts = new Attempts(exchange, fetch, onEvent);
    let failedAt = 0;
    const failure = await ky(exchange.url, {
      method: exchange.method,
      // Headers and body stay out of ky, so that no error of its can show them, and the bytes sent are those signed.
      fetch: input => attempts.next((input as Request).signal),
      timeout: false,
      totalTimeout: timeout,
      signal: signal ?? null,
      retry: {
        limit: retries,
        methods: ['get', 'post'],
        statusCodes: BUSY,
        afterStatusCodes: BUSY,
        maxRetryAfter: LONGEST_RETRY_AFTER,
        backoffLimit: LONGEST_BACKOFF,
        jitter: true,
        shouldRetry: ({ error }) => {
          failedAt = performance.now();
          if (signal?.aborted || error instanceof TimeoutError) return false;
          if (!attempts.answer) return isLookup || !attempts.mayHaveLeft;
          // ky would sleep through a wait that ends after the deadline, and then answer "timeout".
          return isLookup && failedAt + retryAfter(attempts.answer) < deadline ? undefined : false;
        },
      },
      hooks: {
        beforeRetry: [
          ({ retryCount }) => {
            const reason = attempts.answer?.status ?? codeOf(attempts.failure);
            const waitedMs = since(failedAt);
            observe(onEvent, { ...exchange.call, type: 'retry', attempt: retryCount + 1, reason, waitedMs });
          },
        ],
      },
    }).then(
      () => undefined,
      (error: unknown) => error,
    );
    const timedOut = failure instanceof TimeoutError;
    const aborted = !timedOut && failure !== undefined && signal?.aborted;
    // An answer with an error status is an answer; so is the last one before the time for another ran out.
    if (attempts.answer && !aborted) return attempts.answer;
    const code = timedOut ? 'timeout' : aborted ? 'aborted' : codeOf(attempts.failure);
    throw connectionError(code, exchange, attempts);
  }
}

/** Milliseconds that the gateway asks to wait, at most {@link LONGEST_RETRY_AFTER}; 0 if it does not ask. */
function retryAfter({ retryAfter: asked = '' }: Answer): number {
  const wait = /^\d+$/.test(asked) ? Number(asked) * 1000 : Date.parse(asked) - Date.now();
  return wait > 0 ? Math.min(wait, LONGEST_RETRY_AFTER) : 0;
}

function connectionError(code: string, exchange: Exchange, attempts: Attempts): ConnectionError {
  const { call } = exchange;
  const outcome = call.operation === 'create' ? (attempts.mayHaveLeft ? 'unknown' : 'not_sent') : undefined;
  const paymentId = call.paymentId ?? findPaymentId(attempts.received);
  const advice = outcome ? adviceOn(outcome, paymentId) : 'A lookup changes nothing: try again.';
  const cause = code === 'timeout' ? undefined : safeCause(attempts.failure, secretsOf(exchange));
  const message = `No whole answer to ${nameOf(call)} (${code}). ${advice}`;
  return new ConnectionError(message, code, { cause, outcome, paymentId });
}

/** What a careless fetch could have put into its error: the key, the signature, and every text of the body. */
function secretsOf({ headers, body }: Exchange): string[] {
  const { authorization = '', signature = '' } = headers;
  const secrets = [authorization.replace(/^Bearer /, ''), signature];
  if (body) {
    const text = new TextDecoder().decode(body);
    secrets.push(text);
    JSON.parse(text, (_key, value) => {
      if (typeof value !== 'object') secrets.push(String(value));
      return value;
    });
  }
  // Shorter ones are currency codes and the like, and would strike out half of an ordinary message.
  return secrets.filter(secret => secret.length > 3).sort((a, b) => b.length - a.length);
}
