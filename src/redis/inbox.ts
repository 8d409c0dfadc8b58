// An inbox in the merchant's own Redis: one worker per payment by a lease, and marks that never expire. At least once.
import { randomUUID } from 'node:crypto';
import { withTimeout } from '../deadline.ts';
import { ConfigurationError } from '../errors.ts';
import type { Inbox, InboxResult } from '../inbox/contract.ts';
import { type ProblemOf, storeOptions, textProblem } from '../schemas/store-options.ts';

/** A connected client of node-redis, which has `sendCommand`, or of ioredis, which has `call`. */
export type RedisClient =
  | { sendCommand(command: string[]): Promise<unknown> }
  | { call(command: string, ...args: string[]): Promise<unknown> };

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
  typeof value === 'number' && value >= 1000 && value < Number.POSITIVE_INFINITY
    ? undefined
    : 'must be milliseconds, 1000 or more';

/** Milliseconds for one command: a client that has lost its server may keep commands waiting for ever. */
const LONGEST_COMMAND = 5_000;
const NO_ANSWER = `Redis did not answer within ${LONGEST_COMMAND} ms.`;

// Each script is one step: Redis runs nothing in between.
// KEYS: the lease, the marks (a hash of status → '1' if final, else '0'). ARGV[1]: the token of this lease.

/** ARGV[2..4]: milliseconds, status, final. Answers 'ran' if the work may run. Clients may send it twice. */
const ENTER = `
  local marks = redis.call('HGETALL', KEYS[2])
  for i = 1, #marks, 2 do
    if marks[i] == ARGV[3] or (marks[i + 1] == '1' and ARGV[4] == '0') then return 'already' end
  end
  if redis.call('GET', KEYS[1]) == ARGV[1] then return 'ran' end
  return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and 'ran' or 'busy'`;

/** ARGV[2]: milliseconds. */
const RENEW = `
  if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
  return 0`;

/** ARGV[2..3], if the work has run: status, final. A lease that another worker has by now is not touched. */
const LEAVE = `
  if ARGV[2] then redis.call('HSET', KEYS[2], ARGV[2], ARGV[3]) end
  if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
  return 1`;

/**
 * At least once: a worker that dies between its effect and the mark leaves the callback to run again, and so may a
 * failover of Redis, so `onPayment` must be idempotent itself. For exactly once use `postgresInbox`.
 *
 * @param client the merchant's own node-redis or ioredis client, connected
 * @throws {ConfigurationError} for a client of another shape, or a lease under a second
 * @example
 * const handler = createWebhookHandler({ gateway, inbox: redisInbox(client), onPayment: creditOnce });
 */
export function redisInbox(client: RedisClient, options: RedisInboxOptions = {}): Inbox {
  const problems = { prefix: textProblem, leaseMs: leaseProblem };
  const { prefix = 'payment-gateway:inbox', leaseMs = 30_000 } = storeOptions('redisInbox', options, problems);
  const send = senderOf(client);
  return {
    async run({ paymentId, status, final }, work) {
      // The braces keep both keys on one node of a cluster.
      const keys = [`${prefix}:{${paymentId}}:lease`, `${prefix}:{${paymentId}}:marks`];
      const token = randomUUID();
      const lease = String(Math.round(leaseMs));
      const mark = [status, final ? '1' : '0'];
      const run = (script: string, args: string[]) =>
        withTimeout(send(['EVAL', script, '2', ...keys, token, ...args]), LONGEST_COMMAND, NO_ANSWER);
      const leave = () => run(LEAVE, []).catch(() => {});

      const result = await run(ENTER, [lease, ...mark]).catch(error => {
        // A command that was only late may have taken the lease.
        leave();
        throw error;
      });
      if (result !== 'ran') return result as InboxResult;
      const renewing = setInterval(() => run(RENEW, [lease]).catch(() => {}), leaseMs / 3);
      try {
        await work({});
        await run(LEAVE, mark);
      } catch (error) {
        await leave();
        throw error;
      } finally {
        clearInterval(renewing);
      }
      return 'ran';
    },
  };
}

function senderOf(client: RedisClient): (command: string[]) => Promise<unknown> {
  if ('call' in client && typeof client.call === 'function') {
    return ([name = '', ...args]) => client.call(name, ...args);
  }
  if ('sendCommand' in client && typeof client.sendCommand === 'function') {
    return command => client.sendCommand(command);
  }
  throw new ConfigurationError('redisInbox takes a connected client of node-redis or ioredis.');
}
