// The calls of a client about its creates: list doubts, find, settle, and report a payment.
import { type CallOptions, readCallOptions, readSettleOptions, type SettleOptions } from '../client-options.ts';
import { ConfigurationError } from '../errors.ts';
import type { Payment } from '../schemas/records/payment.ts';
import type { Store } from '../store/contract.ts';
import { readCreate, withinCall } from '../store/creates/change.ts';
import { reconcilePayment } from '../store/creates/doubts.ts';
import { settleWith, settleWithout } from '../store/creates/settle.ts';
import { type CreateEntry, createOf, type Doubt, doubtOf, entryOf } from '../store/rules/create-row.ts';
import { Call } from '../telemetry/call.ts';
import type { Gateway } from './gateway.ts';
import { lookUp } from './lookup.ts';
import { checkUpkeep } from './missing-upkeep.ts';
import { type NextAction, nextActionOf } from './next-action.ts';

export async function doubts(store: Store): Promise<Doubt[]> {
  const { rows, now } = await store.list({ kind: 'create', states: ['begun'] });
  return rows.map(row => doubtOf(store, createOf(row), now));
}

/** The result of `find`. */
export interface Entry extends CreateEntry {
  /** The next action once the payment is created: the create's own, or `wait` once the payment is final. */
  nextAction?: NextAction | undefined;
}

export async function find(store: Store, reference: string): Promise<Entry | undefined> {
  const { row, now } = await readCreate(store, { reference });
  return row && { ...entryOf(store, row, now), ...(row.result && { nextAction: nextActionOf(row.result) }) };
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
  return call.conclude(async () => {
    const { despite, ...limits } = readSettleOptions(options);
    const decision = { reference, resolution, despite };
    const readPayment = (id: string) => lookUp(gateway, id, limits, call);
    const settleIt = resolution === 'not_created' ? settleWithout : settleWith;
    await ask(gateway, 'settle', limits, store => settleIt({ store, call, readPayment }, decision));
  });
}

/** Settles a doubt by its confirmed payment. @returns the create of its reference, if the client has a store */
export async function reconcile(gateway: Gateway, payment: Payment, isBeforeEffect?: boolean) {
  const { store } = gateway;
  checkUpkeep(gateway);
  return store && reconcilePayment({ store, call: new Call('callback', gateway) }, payment, isBeforeEffect);
}

/** Asks the store within the limits of a call. @throws {ConfigurationError} without a store */
export async function ask<R>(
  gateway: Gateway,
  method: string,
  options: CallOptions | undefined,
  work: (store: Store) => Promise<R>,
): Promise<R> {
  const { signal, timeout = gateway.timeout } = readCallOptions(options);
  const store = storeOf(gateway, method);
  return withinCall(() => work(store), { signal, timeout });
}

/** @throws {ConfigurationError} for a client without a store */
export function storeOf({ store }: Gateway, method: string): Store {
  if (!store) throw new ConfigurationError(`${method} needs a client with a store: new GatewayClient({ store }).`);
  return store;
}
