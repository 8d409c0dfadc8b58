// The calls of a client about its journal: list, find, settle, sweep, drain, and report a payment.

import { type CallOptions, readCallOptions, readSettleOptions, type SettleOptions } from '../client-options.ts';
import { ConfigurationError } from '../errors.ts';
import { withinCall } from '../journal/change.ts';
import type { Doubt, JournalEntry } from '../journal/contract.ts';
import { doubtsIn, findReference } from '../journal/find.ts';
import { acknowledgePayment, reconcilePayment } from '../journal/reconcile.ts';
import type { ScopedJournal } from '../journal/reports.ts';
import { settleDoubt } from '../journal/settle.ts';
import { type Swept, sweepIds, sweepJournal } from '../journal/sweep.ts';
import { readSweepOptions, type SweepOptions } from '../journal/sweep-options.ts';
import type { Payment } from '../schemas/payment.ts';
import { Call } from '../telemetry/call.ts';
import { type Drained, type DrainOptions, readDrainOptions } from './drain-options.ts';
import { drainPlans } from './follow.ts';
import type { Gateway } from './gateway.ts';
import { lookUp, lookUpIn } from './lookup.ts';
import { type NextAction, nextActionOf } from './next-action.ts';

export async function inDoubt(gateway: Gateway, options?: CallOptions): Promise<Doubt[]> {
  const limits = readCallOptions(options);
  return ask(gateway, 'inDoubt', limits, ({ journal, scope }) => doubtsIn(journal, scope));
}

/** The result of `find`. */
export interface FoundEntry extends JournalEntry {
  /** The next action once the payment is created: the create's own, or `wait` once the payment is final. */
  nextAction?: NextAction | undefined;
}

export async function find(
  gateway: Gateway,
  reference: string,
  options?: CallOptions,
): Promise<FoundEntry | undefined> {
  const found = await ask(gateway, 'find', readCallOptions(options), journal => findReference(journal, reference));
  // The create has already warned of an unusable address.
  return found && { ...found.entry, ...(found.kept && { nextAction: nextActionOf(found.kept, () => {}) }) };
}

export async function settle(
  gateway: Gateway,
  reference: string,
  resolution: string,
  options?: SettleOptions,
): Promise<void> {
  const call = new Call('settle', gateway);
  // Any other value stays out of events: it may be anything.
  if (typeof reference === 'string') call.reference = reference;
  const settleIt = async () => {
    const { despite, ...limits } = readSettleOptions(options);
    const readPayment = (id: string) => lookUp(gateway, id, limits, call);
    await ask(gateway, 'settle', limits, journal =>
      settleDoubt({ ...journal, call }, { reference, resolution, despite }, readPayment),
    );
  };
  return call.conclude(settleIt);
}

export async function sweep(gateway: Gateway, options: SweepOptions): Promise<Swept> {
  const call = new Call('sweep', gateway);
  const sweepIt = async () => {
    const read = readSweepOptions(options);
    return 'ids' in read ? sweepIds(read) : sweepJournal({ ...journalOf(gateway, 'sweep'), call }, read);
  };
  return call.conclude(sweepIt, swept => ({ counts: { ...swept } }));
}

export async function drain(gateway: Gateway, options?: DrainOptions): Promise<Drained> {
  const call = new Call('drain', gateway);
  const drainIt = async () => drainPlans(gateway, { ...journalOf(gateway, 'drain'), call }, readDrainOptions(options));
  return call.conclude(drainIt, drained => ({ counts: { ...drained } }), options?.follow === true);
}

/** Settles a doubt by its confirmed payment, if the client has a journal. */
export async function reconcile(gateway: Gateway, payment: Payment): Promise<void> {
  const { journalInScope } = gateway;
  const call = new Call('callback', gateway);
  if (journalInScope) await reconcilePayment({ ...journalInScope, call }, payment, lookUpIn(gateway, call));
}

/** Records in the journal, if any, that the payment's status has taken effect. */
export async function acknowledge({ journalInScope }: Gateway, payment: Payment): Promise<void> {
  if (journalInScope) await acknowledgePayment(journalInScope, payment);
}

function ask<R>(
  gateway: Gateway,
  method: string,
  { signal, timeout = gateway.timeout }: CallOptions,
  work: (journal: ScopedJournal) => Promise<R>,
): Promise<R> {
  const journal = journalOf(gateway, method);
  return withinCall(() => work(journal), { signal, timeout });
}

function journalOf({ journalInScope }: Gateway, method: string): ScopedJournal {
  if (!journalInScope) throw new ConfigurationError(`${method} needs a client with a journal.`);
  return journalInScope;
}
