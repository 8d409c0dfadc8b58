// The calls of a client about its creates: list doubts, find, settle, and report a payment.

import { type CallOptions, readCallOptions, readSettleOptions, type SettleOptions } from '../client-options.ts';
import { ConfigurationError } from '../errors.ts';
import type { Payment } from '../schemas/payment.ts';
import { change, withinCall } from '../store/change.ts';
import type { Store } from '../store/contract.ts';
import { type CreateEntry, createsOf, type Doubt, type JournalRow } from '../store/creates.ts';
import { doubtsIn, findReference } from '../store/find.ts';
import { reconcilePayment } from '../store/reconcile.ts';
import type { ScopedJournal } from '../store/reports.ts';
import { settleDoubt } from '../store/settle.ts';
import { Call } from '../telemetry/call.ts';
import type { Gateway } from './gateway.ts';
import { lookUp, lookUpIn } from './lookup.ts';
import { checkUpkeep } from './missing-upkeep.ts';
import { type NextAction, nextActionOf } from './next-action.ts';

export async function doubts(gateway: Gateway, options?: CallOptions): Promise<Doubt[]> {
  const limits = readCallOptions(options);
  return ask(gateway, 'doubts', limits, ({ journal }) => doubtsIn(journal));
}

/** The result of `find`. */
export interface Entry extends CreateEntry {
  /** The next action once the payment is created: the create's own, or `wait` once the payment is final. */
  nextAction?: NextAction | undefined;
}

export async function find(gateway: Gateway, reference: string, options?: CallOptions): Promise<Entry | undefined> {
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

/** Settles a doubt by its confirmed payment. @returns the create of its reference, if the client has a store */
export async function reconcile(gateway: Gateway, payment: Payment): Promise<JournalRow | undefined> {
  const { journalInScope } = gateway;
  checkUpkeep(gateway);
  const call = new Call('callback', gateway);
  return journalInScope && reconcilePayment({ ...journalInScope, call }, payment, lookUpIn(gateway, call));
}

/** Makes a payment due for the next upkeep, if the store knows it. */
export async function makeDue({ store, journalInScope }: Gateway, paymentId: string): Promise<void> {
  const { row } = (await store?.owner(paymentId)) ?? {};
  if (!row || !journalInScope) return;
  const key = { scope: journalInScope.scope, reference: row.id };
  await change(journalInScope.journal, key, (current, now) => (current ? { next: { ...current, dueAt: now } } : {}));
}

export function ask<R>(
  gateway: Gateway,
  method: string,
  { signal, timeout = gateway.timeout }: CallOptions,
  work: (journal: ScopedJournal) => Promise<R>,
): Promise<R> {
  const journal = journalOf(gateway, method);
  return withinCall(() => work(journal), { signal, timeout });
}

/** @throws {ConfigurationError} for a client without a store */
export function storeOf({ store }: Gateway, method: string): Store {
  if (!store) throw new ConfigurationError(`${method} needs a client with a store: new GatewayClient({ store }).`);
  return store;
}

/** @throws {ConfigurationError} for a client without a store */
export function journalOf(gateway: Gateway, method: string): ScopedJournal {
  const store = storeOf(gateway, method);
  return { journal: createsOf(store), scope: store.scope };
}
