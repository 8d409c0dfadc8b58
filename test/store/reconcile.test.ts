// What a confirmed payment asks of the store and of the gateway: no more than it needs, as it comes with every callback.

import type { Payment } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { reconcilePayment } from '../../src/store/creates/doubts.ts';
import { type CreateRow, newRow } from '../../src/store/rules/create-row.ts';
import { memoryCreates, noted, storeOf } from '../support/creates.ts';
import { ID, record } from '../support/fixtures.ts';

const money = { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: '25.5', currency: 'EUR' } as const;
const payment = (changes: object = {}): Payment => ({
  ...JSON.parse(record('created, unwrapped')),
  ...{ paymentType: 'DEPOSIT', amount: 25.5, currency: 'EUR', reference: 'Order-1' },
  ...changes,
});

/** A store with these doubts, and what is asked of it. */
async function open(...doubts: (Partial<CreateRow> & { reference: string })[]) {
  const statements = memoryCreates({ scope: 'eu', now: () => 1_000 });
  const insert = async (doubt: (typeof doubts)[number]) => {
    const attempt = { ...money, ...doubt, bodyHash: 'hash', attemptId: 'first', timeoutMs: 0 };
    const { row } = await statements.insert({ ...newRow(attempt), ...doubt });
    // A store sets the times of a new row itself.
    if (row) await statements.replace({ ...row, dueAt: doubt.dueAt }, 1);
  };
  for (const doubt of doubts) await insert(doubt);
  const asked = noted(statements, 'read', 'owner', 'insert', 'replace', 'list');
  const told: { type: string; code?: string; change?: string; message?: string; reference?: string }[] = [];
  const call = { emit: (event: (typeof told)[number]) => void told.push(event) };
  const client = { store: storeOf(statements), call } as never;
  return {
    asked,
    insert,
    reconcile: (of: Payment, isBeforeEffect = false) => reconcilePayment(client, of, isBeforeEffect),
    find: async (reference: string) => (await statements.read({ reference })).row,
    told: () => told.map(({ code, change }) => code ?? change),
    messages: () => told.flatMap(({ message }) => message ?? []),
  };
}

describe('a confirmed payment', () => {
  it.each([undefined, null, '', 'order\0'])(
    'without a reference that a store holds is that of the create that has it: %j',
    async reference => {
      const { reconcile, asked } = await open({ reference: 'Order-1' });
      expect(await reconcile(payment({ reference }))).toBeUndefined();
      expect(asked.splice(0)).toEqual(['owner']);
      await reconcile(payment());
      asked.length = 0;
      const row = await reconcile(payment({ reference, paymentStatus: 'COMPLETED' }));
      expect(row).toMatchObject({ reference: 'Order-1', result: { payment: { paymentStatus: 'COMPLETED' } } });
      expect(asked).toEqual(['owner', 'replace']);
    },
  );

  it('settles its doubt by two reads and one write', async () => {
    const { reconcile, asked, told } = await open({ reference: 'Order-1' });
    expect(await reconcile(payment())).toMatchObject({ state: 'created', paymentId: ID });
    expect(asked.splice(0)).toEqual(['owner', 'read', 'replace']);
    await reconcile(payment());
    expect(asked).toEqual(['owner']);
    expect(told()).toEqual(['settled']);
  });

  it.each([
    ['since its begin waits for the effect', {}, ['owner']],
    ['is recorded if a sweep has moved the due time', { looks: 1, dueAt: 90_000 }, ['owner', 'replace']],
    ['is recorded if an earlier status took effect', { effectAt: 1_000 }, ['owner', 'replace']],
    ['is recorded if no sweep looks at it', { dueAt: undefined }, ['owner', 'replace']],
  ])('of a create that is due %s', async (_, changes, statements) => {
    const known = { state: 'created', paymentId: ID, dueAt: 1_000, result: { payment: payment() } } as const;
    const { reconcile, asked, find } = await open({ reference: 'Order-1', ...known, ...changes });
    const isBeforeEffect = true;
    const row = await reconcile(payment({ paymentStatus: 'COMPLETED' }), isBeforeEffect);
    expect(row).toMatchObject({ reference: 'Order-1', state: 'created' });
    expect(asked).toEqual(statements);
    const isRecorded = statements.length > 1;
    expect((await find('Order-1'))?.result?.payment.paymentStatus).toBe(isRecorded ? 'COMPLETED' : 'PENDING');
  });

  it('of an unknown reference is looked for by its id, and among the doubts', async () => {
    const { reconcile, asked } = await open();
    await reconcile(payment({ reference: 'order-1' }));
    expect(asked).toEqual(['owner', 'read', 'list', 'insert']);
  });

  it('of a known reference that an operator has given to another one stays that of the other', async () => {
    const { reconcile, find, insert } = await open({ reference: 'Order-1', state: 'freed' });
    await insert({ reference: 'order-9', state: 'created', paymentId: ID, result: { payment: payment() } });
    const row = await reconcile(payment({ paymentStatus: 'COMPLETED' }));
    expect(row).toMatchObject({ reference: 'order-9', result: { payment: { paymentStatus: 'COMPLETED' } } });
    expect(await find('Order-1')).toMatchObject({ state: 'freed' });
  });

  it('under a folded reference is kept in mind by the doubt that it may be of, and is reported once', async () => {
    const { reconcile, find, told, messages, asked } = await open({ reference: 'order-1' }, { reference: 'order-2' });
    expect(await reconcile(payment())).toBeUndefined();
    expect(asked.splice(0)).toEqual(['owner', 'read', 'list', 'replace']);
    await reconcile(payment());
    expect(asked).toEqual(['owner', 'read', 'list']);
    expect(told()).toEqual(['create_mismatch']);
    expect(messages()).toEqual([
      `Payment ${ID} differs from the request in reference. The reference stays in doubt: compare them, then call gateway.settle.`,
    ]);
    expect(await find('order-1')).toMatchObject({ conflictingIds: [ID] });
    expect(await find('order-2')).toMatchObject({ conflictingIds: [] });
  });
});
