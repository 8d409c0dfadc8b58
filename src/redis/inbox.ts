// An inbox in the merchant's own Redis: one worker per payment by a lease, and marks that never expire. At least once.
import { randomUUID } from 'node:crypto';
import { delay, LONGEST_TIMER, withTimeout } from '../deadline.ts';
import { ConfigurationError } from '../errors.ts';
import { decide, type Inbox, LOCK_PAUSES, type Mark } from '../inbox/contract.ts';
import { type ProblemOf, storeOptions, textProblem } from '../options/store-options.ts';

/**
 * A connected client, or cluster client, of node-redis or ioredis: by shape, `sendCommand` of one and of the other, or
 * `call`.
 */
export type RedisClient =
  | { sendCommand(command: string[]): Promise<unknown> }
  | RedisCluster
  | { call(command: string, ...args: string[]): Promise<unknown> };

/** A cluster client of node-redis, which finds the node by a key. */
export interface RedisCluster {
  sendCommand(firstKey: string, isReadonly: boolean, command: string[]): Promise<unknown>;
  readonly nodeByAddress: object;
}

/** What a `redisInbox` can take as its second argument. */
export interface RedisInboxOptions {
  /**
   * What the names of the keys begin with.
   * @default 'payment-gateway:inbox'
   */
  prefix?: string | undefined;
  /**
   * Milliseconds until the lease of a worker that died ends. A worker that lives renews it.
   * @default 30_000
   */
  leaseMs?: number | undefined;
}

const leaseProblem: ProblemOf = value =>
  typeof value === 'number' && value >= 1000 && value <= LONGEST_TIMER
    ? undefined
    : 'must be milliseconds, 1000 or more, and at most 24 days';

/** Milliseconds for one command: a client that has lost its server may keep commands waiting for ever. */
const LONGEST_COMMAND = 5_000;
const NO_ANSWER = `Redis did not answer within ${LONGEST_COMMAND} ms.`;

// Each script is one step: Redis runs nothing in between.
// KEYS: the lease, the marks (a hash of status → '1' if final, else '0'). ARGV[1]: the token of this lease.

/** ARGV[2]: milliseconds. Answers whether the lease is ours, and the marks. Clients may send it twice. */
const ENTER = `
  local isOurs = redis.call('GET', KEYS[1]) == ARGV[1]
    or redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
  local answer = redis.call('HGETALL', KEYS[2])
  table.insert(answer, 1, isOurs and '1' or '0')
  return answer`;

/** ARGV[2]: milliseconds. */
const RENEW = `
  if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
  return 0`;

/** ARGV[2..3], if the work has run: status, final. A lease that another worker has by now is not touched. */
const LEAVE = `
  if ARGV[2] then redis.call('HSET', KEYS[2], ARGV[2], ARGV[3]) end
  if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
  return 1`;

/** What `onPayment` gets from a `redisInbox`. */
export interface RedisContext {
  /**
   * Aborted when the lease on the payment is lost, as after a pause of the process: another worker may run the same
   * effect, so stop.
   */
  signal: AbortSignal;
}

/**
 * At least once, and possibly out of order after a pause longer than the lease: a worker that dies between its effect and
 * the mark leaves the callback to run again, and so may a failover of Redis, so `onPayment` must be idempotent itself. For
 * exactly once use `postgresInbox`. Its Redis must not evict what it has: `maxmemory-policy noeviction`.
 *
 * @param client the merchant's own node-redis or ioredis client, or cluster client, connected
 * @throws {ConfigurationError} for a client of another shape, or a lease under a second
 * @example
 * const handler = createWebhookHandler({ gateway, inbox: redisInbox(client), onPayment: creditOnce });
 */
export function redisInbox(client: RedisClient, options: RedisInboxOptions = {}): Inbox<RedisContext> {
  const problems = { prefix: textProblem, leaseMs: leaseProblem };
  const { prefix = 'payment-gateway:inbox', leaseMs = 30_000 } = storeOptions('redisInbox', options, problems);
  const send = senderOf(client);
  const lease = String(Math.round(leaseMs));

  /** The scripts of one event, with a token of its own. */
  const scriptsOf = (paymentId: string) => {
    // The braces keep both keys on one node of a cluster.
    const keys = [`${prefix}:{${paymentId}}:lease`, `${prefix}:{${paymentId}}:marks`] as const;
    const token = randomUUID();
    const run = (script: string, args: string[]) =>
      withTimeout(send(['EVAL', script, '2', ...keys, token, ...args]), LONGEST_COMMAND, NO_ANSWER);
    return {
      enter: async () => marksOf((await run(ENTER, [lease])) as string[]),
      // A client may be told to answer numbers as texts.
      renew: async () => String(await run(RENEW, [lease])) === '1',
      leave: (...mark: string[]) => run(LEAVE, mark),
    };
  };

  return {
    async run(event, work) {
      const { paymentId, status, final } = event;
      const { enter, renew, leave } = scriptsOf(paymentId);
      const leaveQuietly = () => leave().catch(() => {});
      let begun = performance.now();
      try {
        for (const pause of [...LOCK_PAUSES, undefined]) {
          begun = performance.now();
          const { isOurs, marks } = await enter();
          const decision = decide(marks, event);
          if (decision !== 'run') {
            if (isOurs) await leaveQuietly();
            return decision;
          }
          if (isOurs) break;
          if (pause === undefined) return 'busy';
          await delay(pause);
        }
      } catch (error) {
        // A command that was only late may have taken the lease.
        leaveQuietly();
        throw error;
      }
      const { signal, stop } = keepLease(renew, leaseMs, begun);
      try {
        await work({ signal });
        await leave(status, final ? '1' : '0');
      } catch (error) {
        await leaveQuietly();
        throw error;
      } finally {
        stop();
      }
      return 'ran';
    },
  };
}

/** Renews a lease until it is stopped. @param begun when it was taken, of `performance.now()` */
function keepLease(renew: () => Promise<boolean>, leaseMs: number, begun: number) {
  const lost = new AbortController();
  const lose = () => {
    stop();
    lost.abort(new Error('The lease on this payment is lost: another worker may run the same effect.'));
  };
  /** Without an answer it may still be ours, until its time is over. */
  const endAfter = (taken: number) => setTimeout(lose, Math.max(taken + leaseMs - performance.now(), 0));
  let end = endAfter(begun);
  const renewing = setInterval(async () => {
    const asked = performance.now();
    const isOurs = await renew().catch(() => undefined);
    if (isStopped || isOurs === undefined) return;
    clearTimeout(end);
    if (isOurs) end = endAfter(asked);
    else lose();
  }, leaseMs / 3);
  let isStopped = false;
  const stop = () => {
    isStopped = true;
    clearInterval(renewing);
    clearTimeout(end);
  };
  return { signal: lost.signal, stop };
}

/** @param answer '1' if the lease is ours, then each status and '1' if it is final */
function marksOf([isOurs, ...pairs]: string[]): { isOurs: boolean; marks: Mark[] } {
  const marks: Mark[] = [];
  for (let index = 0; index < pairs.length; index += 2) {
    marks.push({ status: String(pairs[index]), final: String(pairs[index + 1]) === '1' });
  }
  return { isOurs: String(isOurs) === '1', marks };
}

/** A script with its keys and arguments. */
type Command = [name: 'EVAL', script: string, keys: string, firstKey: string, ...rest: string[]];

/** Sends a command to the node that has its first key. */
function senderOf(client: RedisClient): (command: Command) => Promise<unknown> {
  if ('call' in client && typeof client.call === 'function') {
    return ([name, ...args]) => client.call(name, ...args);
  }
  if ('sendCommand' in client && typeof client.sendCommand === 'function') {
    if ('getMasterNode' in client) throw unsupported();
    if ('nodeByAddress' in client) return command => client.sendCommand(command[3], false, command);
    return command => client.sendCommand(command);
  }
  throw unsupported();
}

const unsupported = () =>
  new ConfigurationError(
    'redisInbox takes a connected client, or cluster client, of node-redis or ioredis; with Sentinel, one of ioredis.',
  );
