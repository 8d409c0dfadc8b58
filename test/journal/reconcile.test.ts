// What a confirmed payment asks of the journal and of the gateway: no more than it needs, as it comes with every callback.
import { type JournalRow, memoryJournal, type Payment } from 'payment-gateway-sdk';
import { describe, expect, it, vi } from 'vitest';
import { acknowledgePayment, reconcilePayment } from '../../src/journal/reconcile.ts';
import { newRow } from '../../src/journal/row.ts';
import { ID, OTHER_ID, record } from '../support/fixtures.ts';

const request = {
  paymentType: 'DEPOSIT',
  paymentMethod: 'CARD',
  amount: '25.5',
  currency: 'EUR',
  bodyHash: 'hash',
} as const;
const payment = (changes: object = {}): Payment => ({
  ...JSON.parse(record('created, unwrapped')),
  ...{ paymentType: 'DEPOSIT', amount: 25.5, currency: 'EUR', reference: 'Order-1' },
  ...changes,
});

/** A journal with these doubts, and what is asked of it. */
async function open(...doubts: (Partial<JournalRow> & { reference: string })[]) {
  const journal = memoryJournal({ now: () => 1_000 });
  for (const doubt of doubts) {
    await journal.insert({
      ...newRow({ ...request, scope: 'eu', reference: doubt.reference, attemptId: 'first', timeoutMs: 0 }, 0),
      ...doubt,
    });
  }
  const asked: string[] = [];
  for (const name of ['read', 'insert', 'replace', 'list'] as const) {
    const { [name]: ask } = journal;
    Object.assign(journal, {
      [name]: (...given: unknown[]) => {
        asked.push(name);
        return (ask as (...given: unknown[]) => unknown)(...given);
      },
    });
  }
  const told: { type: string; code?: string; change?: string; message?: string; reference?: string }[] = [];
  const call = { tell: (event: (typeof told)[number]) => void told.push(event) };
  const client = { journal, scope: 'eu', call } as never;
  const readPayment = vi.fn<(id: string) => Promise<Payment>>().mockRejectedValue(new Error('busy'));
  return {
    asked,
    readPayment,
    reconcile: (of: Payment) => reconcilePayment(client, of, readPayment),
    acknowledge: (of: Payment) => acknowledgePayment(client, of),
    find: async (reference: string) => (await journal.read({ scope: 'eu', reference })).row,
    told: () => told.map(({ code, change }) => code ?? change),
    messages: () => told.flatMap(({ message }) => message ?? []),
  };
}

describe('a confirmed payment', () => {
  it.each([undefined, null, '', 'order\0'])(
    'of the reference %j, which no journal holds, asks nothing',
    async reference => {
      const { reconcile, acknowledge, asked } = await open();
      await reconcile(payment({ reference }));
      await acknowledge(payment({ reference, paymentStatus: 'COMPLETED' }));
      expect(asked).toEqual([]);
    },
  );

  it('settles its doubt by one read and one write, and takes effect by as many', async () => {
    const { reconcile, acknowledge, asked, told } = await open({ reference: 'Order-1' });
    await reconcile(payment());
    expect(asked.splice(0)).toEqual(['read', 'replace']);
    await acknowledge(payment({ paymentStatus: 'COMPLETED' }));
    expect(asked).toEqual(['read', 'replace']);
    expect(told()).toEqual(['settled']);
  });

  it('that is not final asks nothing when it has taken effect', async () => {
    const { acknowledge, asked } = await open({ reference: 'Order-1' });
    await acknowledge(payment());
    expect(asked).toEqual([]);
  });

  it('of an unknown reference is looked for once where that is in lower case, and twice where it is not', async () => {
    const { reconcile, asked } = await open();
    await reconcile(payment({ reference: 'order-1' }));
    expect(asked.splice(0)).toEqual(['read', 'list', 'insert']);
    await reconcile(payment({ reference: 'Order-2' }));
    expect(asked).toEqual(['read', 'read', 'list', 'insert']);
  });

  it('beside a payment that is known is kept, and no lookup needs to tell which of them counts', async () => {
    const { reconcile, readPayment, told, find } = await open({ reference: 'Order-1' });
    await reconcile(payment());
    await reconcile(payment({ id: OTHER_ID }));
    expect(readPayment).not.toHaveBeenCalled();
    expect(told()).toEqual(['settled', 'conflict', 'journal_two_payments']);
    expect(await find('Order-1')).toMatchObject({ state: 'created', paymentId: ID, conflictingIds: [OTHER_ID] });
  });

  it('beside an id that cannot be looked up is kept, and tried no second time', async () => {
    const { reconcile, readPayment, asked, find } = await open({ reference: 'Order-1', paymentId: OTHER_ID });
    await reconcile(payment());
    expect(readPayment).toHaveBeenCalledExactlyOnceWith(OTHER_ID);
    expect(asked.splice(0)).toEqual(['read', 'replace']);
    expect(await find('Order-1')).toMatchObject({ state: 'begun', paymentId: OTHER_ID, conflictingIds: [ID] });
  });

  it('that may be of the attempt before is kept, and no lookup can tell', async () => {
    const { reconcile, readPayment, asked, told } = await open({ reference: 'Order-1', isRetry: true });
    await reconcile(payment({ paymentStatus: 'FAILED' }));
    expect(readPayment).not.toHaveBeenCalled();
    expect(asked).toEqual(['read', 'replace']);
    expect(told()).toEqual(['conflict', 'journal_two_payments']);
  });

  it('under a folded reference is kept in mind by the doubts that it may be of, and is told once', async () => {
    const doubts = [
      { reference: 'order-1' },
      { reference: 'order-2' },
      { reference: ' ORDER-1', conflictingIds: [ID] },
    ];
    const { reconcile, find, told, messages, asked } = await open(...doubts);
    await reconcile(payment());
    expect(asked).toEqual(['read', 'read', 'list', 'replace', 'insert']);
    expect(told()).toEqual(['journal_mismatch', 'created']);
    expect(messages()).toEqual([
      `Payment ${ID} differs from the request in reference. The reference stays in doubt: compare them, then call gateway.settle.`,
    ]);
    expect(await find('order-1')).toMatchObject({ conflictingIds: [ID] });
    expect(await find('order-2')).toMatchObject({ conflictingIds: [] });
  });
});
