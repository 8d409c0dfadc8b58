// What gateway.find tells of a reference: enough to show an order's page again, without a call of the gateway.
import { GatewayClient, type GatewayEvent, type Journal, type JournalRow, memoryJournal } from 'payment-gateway-sdk';
import { Sandbox } from 'payment-gateway-sdk/sandbox';
import { describe, expect, it } from 'vitest';
import { findUnpaid, undrainedScopes } from '../../src/journal/find.ts';
import { newRow } from '../../src/journal/row.ts';
import { ATTEMPT } from '../support/sql-double.ts';

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

const NOW = 10_000_000;

/** A journal that has these rows, as its store would list them. */
const listing = (...rows: Partial<JournalRow>[]) =>
  ({
    list: async ({ scope, states }) => ({
      rows: rows
        .map(row => ({ ...newRow(ATTEMPT, NOW), ...row }))
        .filter(row => states.includes(row.state) && (scope === undefined || row.scope === scope)),
      now: NOW,
    }),
  }) as Journal;

it('what has no payment, in whatever scope, and of no other reference', async () => {
  const journal = listing(
    { scope: 'eu', state: 'begun' },
    { scope: 'uk', state: 'planned' },
    { scope: 'us', state: 'freed' },
    { scope: 'au', state: 'created' },
    { scope: 'eu', state: 'begun', reference: 'payout-2' },
  );
  const found = await findUnpaid(journal, 'payout-1');
  expect(found.map(({ scope, state, reference }) => [scope, state, reference])).toEqual([
    ['eu', 'begun', 'payout-1'],
    ['uk', 'planned', 'payout-1'],
    ['us', 'freed', 'payout-1'],
  ]);
});

describe('a scope that nobody drains', () => {
  const TEN_MINUTES = 600_000;
  const LONG_DUE = { scope: 'uk', state: 'planned', dueAt: NOW - TEN_MINUTES - 1 } as const;
  const scopesOf = (...rows: Partial<JournalRow>[]) => undrainedScopes({ journal: listing(...rows), scope: 'eu' });

  it.each<[string, Partial<JournalRow>]>([
    ['has a plan that is due for more than ten minutes', LONG_DUE],
    ['has one whose lease has ended', { ...LONG_DUE, leasedUntil: NOW - 1 }],
  ])('%s', async (_, row) => {
    expect(await scopesOf(row)).toEqual(['uk']);
  });

  it('is named once, and so is each other one', async () => {
    expect(await scopesOf(LONG_DUE, { ...LONG_DUE, reference: 'b' }, { ...LONG_DUE, scope: 'us' })).toEqual([
      'uk',
      'us',
    ]);
  });

  it.each<[string, Partial<JournalRow>[]]>([
    ['that is due for ten minutes', [{ ...LONG_DUE, dueAt: NOW - TEN_MINUTES }]],
    ['that is leased', [{ ...LONG_DUE, leasedUntil: NOW }]],
    ['that is never due', [{ scope: 'uk', state: 'planned' }]],
    ['that is no plan', [{ ...LONG_DUE, state: 'begun' }]],
    ['if the own scope has plans: then it is not mistyped', [LONG_DUE, { scope: 'eu', state: 'planned' }]],
  ])('is none by a row %s', async (_, rows) => {
    expect(await scopesOf(...rows)).toEqual([]);
  });
});
