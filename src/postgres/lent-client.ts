// Lends a client to onPayment for one transaction: it cannot end that transaction, and works no longer than onPayment does.
import { ENDED } from '../adapters/ended.ts';
import type { PgClient } from './pg.ts';
import { controlsTransaction } from './transaction-control.ts';

const CONTROLS =
  'tx is one transaction, which the inbox commits together with its mark, so BEGIN, COMMIT and ROLLBACK are refused: write with tx as it is, and use SAVEPOINT for a part that may fail. The transaction() of an ORM that was made from tx sends BEGIN: give the ORM to the inbox instead, by fromDrizzle or another adapter.';
const KEPT = 'tx is lent to onPayment, and the inbox releases it itself: leave out release, end and connect.';
const NO_STREAMS = 'tx takes a text or { text, values }: read cursors and streams with a client of your own.';

/** What takes a client out of the inbox's hands. */
const OWNERS: ReadonlySet<unknown> = new Set(['release', 'end', 'connect']);

/** Back to a savepoint: what failed since is undone. Without one it is refused. */
const UNDO = /^\s*rollback\b/i;

type Query = (...args: unknown[]) => unknown;

/**
 * Runs the work with a client that is its own until it returns.
 *
 * @returns the first SQL error that the work met, whatever it made of it
 * @throws Error if queries of it still run then: what they write is not what the work has waited for
 * @throws what the work throws
 */
export async function lend<Client extends PgClient>(
  client: Client,
  work: (tx: Client) => Promise<unknown>,
): Promise<unknown> {
  let isEnded = false;
  let running = 0;
  let firstError: unknown;

  const settle = (error?: unknown) => {
    running -= 1;
    firstError ??= error;
  };
  const query: Query = (...args) => {
    const callback = args.map(callbackIn).find(found => found);
    const problem = isEnded ? ENDED : problemOf(args[0]);
    if (problem) return refuse(new Error(problem), callback);
    running += 1;
    const undoes = UNDO.test(textOf(args[0]));
    const succeed = () => {
      settle();
      if (undoes) firstError = undefined;
    };
    try {
      const answer = (client.query as Query)(...args.map(arg => observed(arg, succeed, settle)));
      if (callback === undefined) Promise.resolve(answer).then(succeed, settle);
      return answer;
    } catch (error) {
      settle(error);
      throw error;
    }
  };
  const refused = () => {
    throw new Error(KEPT);
  };

  const tx = new Proxy(client, {
    get(target, name) {
      if (name === 'query') return query;
      if (OWNERS.has(name)) return refused;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  try {
    await work(tx);
  } finally {
    isEnded = true;
  }
  if (running === 0) return firstError;
  throw new Error(`onPayment returned while ${running} of its queries ran, so nothing was committed. ${ENDED}`);
}

function refuse(error: Error, callback: Query | undefined): Promise<never> | undefined {
  if (callback) {
    process.nextTick(callback, error);
    return undefined;
  }
  const refusal = Promise.reject(error);
  // A query that nobody awaits must not end the process.
  refusal.catch(() => {});
  return refusal;
}

/** A callback, as the last argument or in the query's own object. */
function callbackIn(arg: unknown): Query | undefined {
  const found = typeof arg === 'object' && arg !== null ? (arg as { callback?: unknown }).callback : arg;
  return typeof found === 'function' ? (found as Query) : undefined;
}

/** The same argument, whose callback tells first that the query has ended. */
function observed(arg: unknown, succeed: () => void, fail: (error: unknown) => void): unknown {
  const callback = callbackIn(arg);
  if (!callback) return arg;
  const told: Query = (error, ...result) => {
    if (error) fail(error);
    else succeed();
    return callback(error, ...result);
  };
  return arg === callback ? told : { ...(arg as object), callback: told };
}

function problemOf(query: unknown): string | undefined {
  if (typeof (query as { submit?: unknown } | undefined)?.submit === 'function') return NO_STREAMS;
  return controlsTransaction(textOf(query)) ? CONTROLS : undefined;
}

/** Something harmless for what pg will not take for a query. */
const textOf = (query: unknown): string =>
  String(typeof query === 'object' && query !== null ? (query as { text?: unknown }).text : query);
