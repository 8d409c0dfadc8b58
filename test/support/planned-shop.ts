// A shop that plans creates and drains them, and a gateway that takes all of them.
import { randomUUID } from 'node:crypto';
import {
  type Fetch,
  type FetchInit,
  GatewayClient,
  type GatewayEvent,
  type Journal,
  memoryJournal,
} from 'payment-gateway-sdk';
import { KEYS, PAYOUT } from './fixtures.ts';
import { hostNotFound, json, type Sent } from './wire.ts';

export const MINUTE = 60_000;
export const PLANNED = { ...PAYOUT, paymentType: 'WITHDRAWAL' } as const;
export const NONE = { created: 0, refused: 0, postponed: 0, inDoubt: 0 };
export const notReached = hostNotFound();
export const tx = 'the transaction of the merchant';

/** A merchant's journal, and a client over it; the clock stands still. */
export function openShop(fetch: Fetch, journalOptions: Partial<Journal> = {}) {
  const clock = { now: 1_700_000_000_000 };
  const journal = memoryJournal({ scope: 'eu', now: () => clock.now });
  const events: GatewayEvent[] = [];
  const open = (given: Journal) =>
    new GatewayClient({ ...KEYS, fetch, journal: given, retries: 0, onEvent: event => events.push(event) });
  const gateway = open({ ...journal, ...journalOptions });
  const plan = (reference: string) => journal.plan(tx, { ...PLANNED, reference });
  const stateOf = async (reference: string) => (await gateway.find(reference))?.state;
  const changes = () => events.flatMap(event => (event.type === 'journal' ? [event.change] : []));
  const warnings = () => events.flatMap(event => (event.type === 'warning' ? [event] : []));
  const rowOf = async (reference: string) => (await journal.read({ scope: 'eu', reference })).row;
  return { clock, journal, gateway, open, plan, stateOf, changes, warnings, rowOf };
}

export const referencesOf = (sent: readonly Sent[]) =>
  sent.flatMap(({ method, body }) => (method === 'POST' ? [JSON.parse(body).reference] : []));

/** Answers a create with a payment of its reference. */
export const taken = ({ body }: FetchInit): Response => {
  const request = JSON.parse(Buffer.from(body ?? []).toString());
  return json(JSON.stringify({ result: { ...request, id: randomUUID(), paymentStatus: 'PENDING' } }), 201);
};

/** A gateway that takes every create, and tells which. */
export const accept =
  (sent: string[] = []): Fetch =>
  async (_, init) => {
    sent.push(JSON.parse(Buffer.from(init.body ?? []).toString()).reference);
    return taken(init);
  };
