// A shop over memoryStore whose upkeep is tested: its clock stands still.
import { randomUUID } from 'node:crypto';
import { GatewayClient } from '../../src/client.ts';
import type { Fetch, FetchInit } from '../../src/http/own-fetch.ts';
import type { Payment } from '../../src/schemas/records/payment.ts';
import { isFinal } from '../../src/schemas/records/payment-status.ts';
import type { Store } from '../../src/store/contract.ts';
import { memoryStore } from '../../src/store/memory.ts';
import { createOf } from '../../src/store/rules/create-row.ts';
import type { GatewayEvent } from '../../src/telemetry/events.ts';
import { HANDLER, type HandlerLink } from '../../src/upkeep/handler-link.ts';
import type { UpkeepOptions } from '../../src/upkeep/upkeep.ts';
import { CLIENT } from '../../src/webhooks/client-link.ts';
import { createWebhookHandler } from '../../src/webhooks/handler.ts';
import { KEYS, PAYOUT } from './fixtures.ts';
import { hostNotFound, json } from './wire.ts';

export const MINUTE = 60_000;
export const DAY = 86_400_000;
export const NONE_SWEPT = { processed: 0, open: 0, gaveUp: 0, failed: 0, rechecked: 0 };
export const NONE_SENT = { created: 0, refused: 0, postponed: 0, inDoubt: 0 };
export const notReached = hostNotFound('127.0.0.1');

/** On loopback the client uses the store itself, not one that is bound to the gateway. */
const LOOPBACK = 'http://127.0.0.1:9';

/** Options of the shop's client, beside its store. */
export interface ShopOptions {
  baseUrl?: string;
  apiKey?: string;
  signKey?: string;
  fetch: Fetch;
}

/** @param onPayment the effect of each new status */
export function openUpkeptShop(client: ShopOptions, onPayment: (payment: Payment) => unknown = () => {}) {
  const clock = { now: 1_700_000_000_000 };
  const store = memoryStore({ scope: 'eu', now: () => clock.now });
  const events: GatewayEvent[] = [];
  const effects: string[] = [];
  const reviewed: string[] = [];
  const open = (changes: Partial<Store<object>> = {}) => {
    const given = Object.keys(changes).length > 0 ? { ...store, ...changes } : store;
    const keys = { ...KEYS, baseUrl: LOOPBACK };
    return new GatewayClient({ ...keys, ...client, store: given, retries: 0, onEvent: event => events.push(event) });
  };
  const gateway = open();
  const reconcile = (payment: Payment) => gateway[CLIENT].reconcile(payment);
  const handler = createWebhookHandler<object>({
    gateway,
    onPayment: async payment => {
      await onPayment(payment);
      if (isFinal(payment)) effects.push(payment.reference ?? '');
    },
    onReview: ({ reference = '', reason }) => void (reason === 'payout_refused' && reviewed.push(reference)),
    onError: () => {},
    onEvent: () => {},
  });
  /** The handler, with other parts. */
  const handlerOf = (parts: object = {}): UpkeepOptions['handler'] => ({
    [HANDLER]: { ...handler[HANDLER], ...parts } as HandlerLink,
  });
  const upkeep = (changes: Partial<UpkeepOptions> = {}, by = gateway) =>
    by.upkeep({
      handler: handlerOf({ store: by[CLIENT].store }),
      once: true,
      olderThan: 0,
      recheckAfter: [],
      ...changes,
    });
  const plan = (reference: string, by = gateway) => by.payOut({}, { ...PAYOUT, reference });
  const plans = async (...references: string[]) => {
    for (const reference of references) {
      await plan(reference);
      clock.now += 1;
    }
  };
  const sweep = async (changes: Partial<UpkeepOptions> = {}) => (await upkeep(changes)).swept;
  const send = async (changes: Partial<UpkeepOptions> = {}, by = gateway) =>
    (await upkeep({ olderThan: 365 * DAY, ...changes }, by)).sent;
  const after =
    <A extends unknown[], T>(work: (...args: A) => Promise<T>) =>
    (ms: number, ...args: A): Promise<T> => {
      clock.now += ms;
      return work(...args);
    };
  return {
    ...{ clock, store, gateway, open, handle: handler, handlerOf, reconcile, upkeep, plan },
    acknowledge: ({ id }: Payment) => handler[HANDLER].process(id, { timeout: MINUTE }),
    ...{ effects, reviewed, events },
    ...{ plans, sweep, send, sweepAfter: after(sweep), sendAfter: after(send) },
    stateOf: async (reference: string) => (await gateway.find(reference))?.state,
    rowOf: async (reference: string) => {
      const { row } = await store.read({ kind: 'create', id: reference });
      return row && createOf(row);
    },
    warnings: () => events.flatMap(event => (event.type === 'warning' ? [event] : [])),
    changes: () => events.flatMap(event => (event.type === 'store' ? [event.change] : [])),
  };
}

/** Answers a create with a payment of its reference. */
export const taken = ({ body }: FetchInit): Response => {
  const request = JSON.parse(Buffer.from(body ?? []).toString());
  return json(JSON.stringify({ result: { ...request, id: randomUUID(), paymentStatus: 'PENDING' } }), 201);
};

/** A gateway that takes every create and lists it. */
export const accept =
  (sent: string[] = []): Fetch =>
  async (_, init) => {
    sent.push(JSON.parse(Buffer.from(init.body ?? []).toString()).reference);
    return taken(init);
  };
