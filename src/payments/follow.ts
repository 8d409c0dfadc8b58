// Drains the plans once, or until a signal.
import { pause } from '../deadline.ts';
import { ConfigurationError } from '../errors.ts';
import { bounded } from '../journal/change.ts';
import type { Journal } from '../journal/contract.ts';
import { type ClientJournal, warnDrainFailed } from '../journal/reports.ts';
import { Drain } from './drain.ts';
import type { Drained, readDrainOptions } from './drain-options.ts';
import type { Gateway } from './gateway.ts';

/** Milliseconds between two checks, and between two tries while the gateway or the journal fails: those grow. */
const IDLE_PAUSE = 1_000;
const LONGEST_PAUSE = 60_000;
const NO_SCOPE =
  'drain needs a journal with the scope that its plans have: postgresJournal(pool, { scope }). Without one nothing can be planned.';

/** @throws {ConfigurationError} without a scope, and any error of the journal, unless `follow` makes it continue */
export async function drainPlans(
  gateway: Gateway,
  client: ClientJournal,
  {
    follow,
    limit = follow ? Number.POSITIVE_INFINITY : 1_000,
    concurrency,
    signal,
  }: ReturnType<typeof readDrainOptions>,
): Promise<Drained> {
  if (!client.journal.scope) throw new ConfigurationError(NO_SCOPE);
  const drain = new Drain(gateway, client, { limit, concurrency });
  if (follow) await followPlans(drain, client, signal);
  else await drain.run({ signal });
  const { drained } = drain;
  const isIdle = Object.values(drained).every(count => count === 0);
  // Otherwise it would look as if all were sent.
  return isIdle && !follow ? { ...drained, postponed: await countWaiting(client) } : drained;
}

/** Counts the plans that are due later, because an earlier drain could not send them. */
async function countWaiting({ journal, scope }: ClientJournal): Promise<number> {
  const { rows, now } = await bounded(journal.list({ scope, states: ['planned'] }));
  return rows.filter(({ dueAt = now }) => dueAt > now).length;
}

/** Sends each new plan immediately, until the signal or the limit. */
async function followPlans(drain: Drain, client: ClientJournal, outer: AbortSignal | undefined): Promise<void> {
  const stop = new AbortController();
  const signal = outer ? AbortSignal.any([outer, stop.signal]) : stop.signal;
  const bell = new Bell();
  const ring = () => bell.ring();
  signal.addEventListener('abort', ring);
  const watching = watch(client.journal, ring, signal);
  const following = { signal, whenIdle: () => bell.wait(IDLE_PAUSE), onBlocked: ring };
  for (let failures = 0; !signal.aborted && !drain.isAtLimit; ) {
    const before = drain.drained.created;
    const asked = await drain.run(following).catch(error => {
      warnDrainFailed(client, error);
      return 0;
    });
    if (asked === undefined) continue;
    failures = drain.drained.created > before ? 1 : failures + 1;
    const due = Math.min(IDLE_PAUSE * 2 ** failures, LONGEST_PAUSE);
    await pause(Math.max(due, asked), signal);
  }
  stop.abort();
  await watching;
}

/** Wakes the current waiter, or else the next one. */
class Bell {
  #ringing = new AbortController();

  ring(): void {
    this.#ringing.abort();
  }

  /** Waits until it rings, or for `ms` milliseconds. */
  async wait(ms: number): Promise<void> {
    await pause(ms, this.#ringing.signal);
    this.#ringing = new AbortController();
  }
}

/** Listens for plans until the signal, and again if the database stops reporting them. */
async function watch(journal: Journal, onPlanned: () => void, signal: AbortSignal): Promise<void> {
  while (journal.watch && !signal.aborted) {
    try {
      await journal.watch(onPlanned, signal);
    } catch {
      // Until it listens again, the regular checks find new plans.
    }
    await pause(IDLE_PAUSE, signal);
  }
}
