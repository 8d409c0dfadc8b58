// Drains: once, or for as long as plans are made.
import { pause } from '../deadline.ts';
import { ConfigurationError } from '../errors.ts';
import { bounded } from '../journal/change.ts';
import type { Journal } from '../journal/contract.ts';
import { type ClientJournal, warnDrainFailed } from '../journal/reports.ts';
import { Drain } from './drain.ts';
import type { Drained, readDrainOptions } from './drain-options.ts';
import type { Gateway } from './gateway.ts';

/** Milliseconds between two looks, and between two tries while the gateway or the journal fails: ever more. */
const IDLE_PAUSE = 1_000;
const LONGEST_PAUSE = 60_000;
const NO_SCOPE =
  'drain needs a journal with the scope that its plans have: postgresJournal(pool, { scope }). Without one nothing can be planned.';

/** @throws {ConfigurationError} without a scope; what the journal throws: a drain that follows goes on instead */
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
  // It must not look as if all were sent.
  return isIdle && !follow ? { ...drained, postponed: await countWaiting(client) } : drained;
}

/** How many plans are due later, because an earlier drain could not send them. */
async function countWaiting({ journal, scope }: ClientJournal): Promise<number> {
  const { rows, now } = await bounded(journal.list({ scope, states: ['planned'] }));
  return rows.filter(({ dueAt = now }) => dueAt > now).length;
}

/** Sends what is planned as soon as it is, until the signal, or until so many were sent. */
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

/** Rings for whoever waits, or for who comes next. */
class Bell {
  #ringing = new AbortController();

  ring(): void {
    this.#ringing.abort();
  }

  /** Until it rings, but no longer than so many milliseconds. */
  async wait(ms: number): Promise<void> {
    await pause(ms, this.#ringing.signal);
    this.#ringing = new AbortController();
  }
}

/** Listens for plans until the signal, again and again if the database tells no more. */
async function watch(journal: Journal, onPlanned: () => void, signal: AbortSignal): Promise<void> {
  while (journal.watch && !signal.aborted) {
    try {
      await journal.watch(onPlanned, signal);
    } catch {
      // What is planned until it listens again is seen by looking.
    }
    await pause(IDLE_PAUSE, signal);
  }
}
