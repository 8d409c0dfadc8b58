// The calls about references: list doubts, find one, settle it, and report its payment.
import { type CallOptions, readCallOptions, readSettleOptions, type SettleOptions } from '../client-options.ts';
import { ConfigurationError } from '../errors.ts';
import type { Payment } from '../schemas/records/payment.ts';
import type { Store } from '../store/contract.ts';
import { readCreate, withinCall } from '../store/creates/change.ts';
import { reconcilePayment } from '../store/creates/doubts.ts';
import { settleWith, settleWithout } from '../store/creates/settle.ts';
import { type CreateRow, createOf, isUnderWay, type ReadRow } from '../store/rules/create-row.ts';
import { Call } from '../telemetry/call.ts';
import type { Gateway } from './gateway.ts';
import { lookUp } from './lookup.ts';
import { checkUpkeep } from './missing-upkeep.ts';
import { type NextAction, nextActionOf } from './next-action.ts';

/** The store's entry of a reference. */
export interface Entry extends Pick<CreateRow, 'reference' | 'paymentType' | 'paymentMethod' | 'amount' | 'currency'> {
  scope: string;
  /** `planned`: waits for upkeep. `begun`: running or in doubt. `freed`: made no payment. */
  state: CreateRow['state'];
  /** Time when its create began, or was planned. */
  since: Date;
  /** The payment's id, if known or suspected: an error's body may have named it. */
  paymentId?: string | undefined;
  /** Ids of other payments that may have this reference. */
  conflictingIds: readonly string[];
  /** Whether the create may still run: it has not ended, and its timeout has not passed. */
  underWay: boolean;
  /** The last seen payment, once created. Contains no customer data. */
  payment?: Payment | undefined;
  /** The next action once the payment is created: the create's own, or `wait` once the payment is final. */
  nextAction?: NextAction | undefined;
}

/** A create with an unknown outcome: its state is `begun`, and it has no payment yet. */
export type Doubt = Omit<Entry, 'state' | 'payment' | 'nextAction'>;

export function entryOf({ scope }: Store, row: ReadRow): Entry {
  const { reference, state, paymentType, paymentMethod, amount, currency, paymentId, conflictingIds, result } = row;
  const request = { scope, reference, since: new Date(row.begunAt), paymentType, paymentMethod, amount, currency };
  const doubt = { ...request, ...(paymentId && { paymentId }), conflictingIds, underWay: isUnderWay(row) };
  return { ...doubt, state, ...(result && { payment: result.payment, nextAction: nextActionOf(result) }) };
}

export async function doubts(store: Store): Promise<Doubt[]> {
  const { rows, now } = await store.list({ kind: 'create', states: ['begun'] });
  return rows.map(row => {
    const { state, ...doubt } = entryOf(store, { ...createOf(row), now });
    return doubt;
  });
}

export async function find(store: Store, reference: string): Promise<Entry | undefined> {
  const row = await readCreate(store, { reference });
  return row && entryOf(store, row);
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
