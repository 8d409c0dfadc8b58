// What gateway.find tells of a reference: enough to show an order's page again, without a call of the gateway. And what an
// operator is told of other scopes: one that is mistyped must not look as if nothing were there.
import { GatewayClient, type GatewayEvent, memoryJournal } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it } from 'vitest';
import type { JournalRow } from '../../src/journal/contract.ts';
import { findUnpaid, undrainedScopes } from '../../src/journal/find.ts';
import { type JournalAttempt, newRow } from '../../src/journal/row.ts';

const order = {
  amount: '25.50',
  currency: 'EUR',
  reference: 'order-1',
  webhookUrl: 'https://shop.example/callbacks',
  returnUrl: 'https://shop.example/thanks',
} as const;

function open() {
  const events: GatewayEvent[] = [];
  const sandbox = new Sandbox({ fetch: async () => new Response() });
  const options = { ...sandbox.clientOptions, journal: memoryJournal(), retries: 0 };
  const gateway = new GatewayClient({ ...options, onEvent: event => void events.push(event) });
  return { sandbox, gateway, events };
}

it('where the customer is to pay, as the create has answered it, and no call is made for it', async () => {
  const { gateway, events } = open();
  const { payment, nextAction } = await gateway.createDeposit({ ...order, paymentMethod: 'CARD' });
  events.length = 0;
  expect(nextAction.type).toBe('redirect');
  expect(await gateway.find('order-1')).toMatchObject({ state: 'created', paymentId: payment.id, nextAction });
  expect(events).toEqual([]);
});

it('how the customer is to transfer', async () => {
  const { gateway } = open();
  const payid = { ...order, paymentMethod: 'PAYID', currency: 'AUD' } as const;
  const { nextAction } = await gateway.createDeposit(payid);
  expect(nextAction.type).toBe('transfer');
  expect(await gateway.find('order-1')).toMatchObject({ nextAction });
});

it('nothing to do once the payment is final', async () => {
  const { sandbox, gateway } = open();
  const { payment } = await gateway.createDeposit({ ...order, paymentMethod: 'CARD' });
  await gateway.reconcile(await sandbox.fail(payment.id, { code: 4004 }).then(() => gateway.getPayment(payment.id)));
  expect(await gateway.find('order-1')).toMatchObject({
    nextAction: { type: 'wait' },
    payment: { paymentStatus: 'FAILED' },
  });
});

it('no action while the create is in doubt', async () => {
  const { sandbox, gateway } = open();
  sandbox.faults.next('commit-then-drop');
  await gateway.createDeposit({ ...order, paymentMethod: 'CARD' }).catch(() => {});
  expect(await gateway.find('order-1')).not.toHaveProperty('nextAction');
});

const NOW = 1_700_000_000_000;
const TEN_MINUTES = 600_000;

/** A journal with these rows, of which each says what matters; what is due was inserted then. */
async function journalOf(...rows: Partial<JournalRow>[]) {
  const clock = { now: NOW };
  const journal = memoryJournal({ now: () => clock.now });
  for (const changes of rows) {
    clock.now = changes.dueAt ?? NOW;
    await journal.insert({ ...newRow(attempt, NOW), ...changes });
  }
  clock.now = NOW;
  return journal;
}

const attempt: JournalAttempt = {
  ...{ scope: 'eu', reference: 'order-1', attemptId: 'first', timeoutMs: 1_000, bodyHash: 'hash' },
  ...{ paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: '25.5', currency: 'EUR' },
};

describe('a reference that another scope has', () => {
  it('is found wherever it has no payment yet, the oldest first, with what is known of it', async () => {
    const states = ['begun', 'planned', 'freed', 'created'] as const;
    const journal = await journalOf(...states.map(state => ({ state, scope: `with what is ${state}` })));
    const found = await findUnpaid(journal, 'order-1');
    const { paymentType, paymentMethod, amount, currency } = attempt;
    const known = { reference: 'order-1', since: new Date(NOW), paymentType, paymentMethod, amount, currency };
    expect(found).toEqual([
      { ...known, scope: 'with what is begun', state: 'begun', conflictingIds: [], underWay: true },
      { ...known, scope: 'with what is planned', state: 'planned', conflictingIds: [], underWay: false },
      { ...known, scope: 'with what is freed', state: 'freed', conflictingIds: [], underWay: false },
    ]);
  });

  it('is not taken for another', async () => {
    const journal = await journalOf({ reference: 'order-10' }, { reference: 'order-1' }, { reference: 'Order-1' });
    expect((await findUnpaid(journal, 'order-1')).map(({ reference }) => reference)).toEqual(['order-1']);
    expect(await findUnpaid(journal, 'order-2')).toEqual([]);
  });
});

describe('scopes that nobody drains', () => {
  /** What is planned in a scope, due since then. */
  const plan = (scope: string, dueAt: number, changes: Partial<JournalRow> = {}): Partial<JournalRow> => ({
    ...{ scope, dueAt, state: 'planned', reference: `${scope}, ${dueAt}` },
    ...changes,
  });
  const LONG_AGO = NOW - TEN_MINUTES - 1;
  const undrained = async (...rows: Partial<JournalRow>[]) =>
    undrainedScopes({ journal: await journalOf(...rows), scope: 'mistyped' });

  it('are those with a plan that is due for more than ten minutes', async () => {
    expect(await undrained(plan('eu', LONG_AGO), plan('us', NOW - TEN_MINUTES), plan('asia', NOW))).toEqual(['eu']);
  });

  it('are named once each, in the order of their oldest plan', async () => {
    const plans = [plan('us', LONG_AGO - 1), plan('eu', LONG_AGO - 2), plan('us', LONG_AGO), plan('eu', LONG_AGO)];
    expect(await undrained(...plans)).toEqual(['eu', 'us']);
  });

  it('are not those with a plan that somebody has leased, until the lease has ended', async () => {
    const leases = { 'of one that died': NOW - 1, 'that ends now': NOW, 'that lasts': NOW + 1 };
    const plans = Object.entries(leases).map(([lease, leasedUntil]) => plan(lease, LONG_AGO, { leasedUntil }));
    expect(await undrained(...plans)).toEqual(['of one that died']);
  });

  it('are not those with a plan that is not due', async () => {
    expect(await undrained({ scope: 'eu', state: 'planned' })).toEqual([]);
  });

  it.each(['begun', 'created', 'freed'] as const)('are not those where all is %s', async state => {
    expect(await undrained(plan('eu', LONG_AGO, { state }))).toEqual([]);
  });

  it('are of no interest to a scope that has plans of its own, even of one that nobody drains', async () => {
    for (const dueAt of [LONG_AGO, NOW]) {
      expect(await undrained(plan('eu', LONG_AGO), plan('mistyped', dueAt))).toEqual([]);
    }
  });

  it('are told also where the own scope has rows, and no plans', async () => {
    const begun = plan('mistyped', NOW, { state: 'begun' });
    expect(await undrained(plan('eu', LONG_AGO), begun)).toEqual(['eu']);
  });
});
