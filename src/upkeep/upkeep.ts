// Background work: sends planned payouts, and processes payments whose callbacks were lost.
import * as z from 'zod';
import { delay, leaving } from '../deadline.ts';
import { ConfigurationError } from '../errors.ts';
import { argumentReader, callFields, count, flag } from '../option-reader.ts';
import type { Gateway } from '../payments/gateway.ts';
import { storeOf } from '../payments/references.ts';
import { warn } from '../store/creates/reports.ts';
import { Call } from '../telemetry/call.ts';
import { HANDLER, type HandlerLink } from './handler-link.ts';
import { type SendCounts, sendPlans, type UpkeepCall } from './send-plans.ts';
import { type SweepCounts, sweep } from './sweep.ts';

/** The options of `upkeep`. */
export interface UpkeepOptions {
  /** The handler of `createWebhookHandler`, over the same store. It processes each payment as its callback would. */
  handler: { readonly [HANDLER]: HandlerLink };
  /** Stops the upkeep. It finishes running work within the client's `timeout` and some seconds for the store. */
  signal?: AbortSignal | undefined;
  /** Whether to do only the due work. Otherwise the upkeep runs until the signal. @default false */
  once?: boolean | undefined;
  /**
   * Milliseconds since the create. Sweeps skip younger payments, because their callbacks may still come.
   * @default 60_000
   */
  olderThan?: number | undefined;
  /**
   * Milliseconds since the create. Sweeps skip older payments that are not final.
   * @default 2_592_000_000, thirty days
   */
  giveUpAfter?: number | undefined;
  /**
   * Milliseconds after which paid payments are looked up again, because the callback of a chargeback can get lost.
   * @default [86_400_000, 604_800_000, 2_592_000_000]: after 1, 7 and 30 days
   */
  recheckAfter?: readonly number[] | undefined;
  /**
   * Maximum number of payouts to send, and of payments to look up, in each run.
   * @default 1_000 with `once`, otherwise unlimited
   */
  limit?: number | undefined;
  /** Number of payouts sent concurrently, and of payments processed concurrently. @default 8 */
  concurrency?: number | undefined;
}

/** The counts of an upkeep, by result. */
export interface Upkeep {
  swept: SweepCounts;
  sent: SendCounts;
}

const DAY = 86_400_000;

const millisecondsOrZero = z.number({ error: 'must be milliseconds, 0 or more' }).nonnegative();

const readOptions = argumentReader<UpkeepOptions>()({
  handler: z.custom<UpkeepOptions['handler']>(given => HANDLER in Object(given), {
    error: 'must be the handler of createWebhookHandler',
  }),
  signal: callFields.signal.default(() => new AbortController().signal),
  once: flag.default(false),
  olderThan: millisecondsOrZero.default(60_000),
  giveUpAfter: millisecondsOrZero.default(30 * DAY),
  recheckAfter: z
    .array(millisecondsOrZero, { error: 'must be a list of milliseconds, such as [86_400_000]' })
    .default([DAY, 7 * DAY, 30 * DAY]),
  limit: count.optional(),
  concurrency: count.default(8),
});

/** Milliseconds between two sweeps, and the longest pause after failures. */
const MINUTE = 60_000;
/** Milliseconds between two checks for plans, and the first pause after failures. */
const SECOND = 1_000;

const OTHER_STORE =
  "upkeep: the handler's gateway has another store, or none, so it cannot process these payments. Pass this gateway to createWebhookHandler.";

export async function upkeep(gateway: Gateway, options: UpkeepOptions): Promise<Upkeep> {
  const store = storeOf(gateway, 'upkeep');
  const call = new Call('upkeep', gateway);
  const { once, limit = once ? 1_000 : Number.POSITIVE_INFINITY, ...rest } = readOptions(options);
  const handler = rest.handler[HANDLER];
  if (handler.store !== gateway.store) throw new ConfigurationError(OTHER_STORE);
  const swept: SweepCounts = { processed: 0, open: 0, gaveUp: 0, failed: 0, rechecked: 0 };
  const sent: SendCounts = { created: 0, refused: 0, postponed: 0, inDoubt: 0 };
  const client: UpkeepCall = { ...rest, handler, gateway, store, call, limit, swept, sent, isOut: false };
  const countsNow = () => ({ counts: { ...swept, ...sent } });
  if (once) {
    await call.conclude(() => sendPlans(client).then(() => sweep(client)), countsNow);
  } else {
    const tryToSweep = () => sweep(client).catch(error => warn(client, 'upkeep_failed', {}, String(error)));
    // Its parts never reject. A trace of it would contain all that runs.
    await Promise.all([sendUntil(client), repeat(client, MINUTE, tryToSweep)]);
    call.emit({ type: 'success', outcome: 'ok', ...countsNow() });
  }
  return { swept, sent };
}

/** Sends each plan immediately until the signal. After a failure it waits longer and longer, up to a minute. */
async function sendUntil(client: UpkeepCall): Promise<void> {
  const { store, signal } = client;
  let bell = Promise.withResolvers<void>();
  // While the database reports no plans, the regular checks find them.
  const listening = repeat(client, SECOND, async () => store.watch?.(() => bell.resolve(), signal));
  for (let failures = 0; !signal.aborted; ) {
    // A plan that is written during the run rings for the next one.
    bell = Promise.withResolvers();
    await sendPlans(client).catch(error => {
      client.isOut = true;
      warn(client, 'upkeep_failed', {}, String(error));
    });
    failures = client.isOut ? failures + 1 : 0;
    const wake = client.isOut ? new Promise(() => {}) : bell.promise;
    await leaving(wake, { ms: Math.min(SECOND * 2 ** failures, MINUTE), signal });
  }
  await listening;
}

/** Repeats work until the signal, after pauses of `ms` milliseconds, despite its errors. */
async function repeat({ signal }: UpkeepCall, ms: number, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await work().catch(() => {});
    await delay(ms, signal);
  }
}
