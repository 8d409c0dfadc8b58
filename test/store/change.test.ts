import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PaymentTaken } from '../../src/store/contract.ts';
import { change, record } from '../../src/store/creates/change.ts';
import { type CreateRow, newRow } from '../../src/store/rules/create-row.ts';
import { type Creates, memoryCreates, storeOf } from '../support/creates.ts';
import { errorOf } from '../support/fixtures.ts';
import { whileTimePasses } from '../support/passing-time.ts';

const key = { reference: 'order-1' };
const money = { paymentType: 'DEPOSIT', paymentMethod: 'CARD', amount: '25.5', currency: 'EUR' } as const;
const attempt = { ...key, ...money, attemptId: 'first', bodyHash: 'hash', timeoutMs: 0 };
const row: CreateRow = { ...newRow(attempt), revision: 1 };
const call = { emit() {} };
const moved = { ...row, looks: 1 };

/** A store that holds the row, unless it is told otherwise. */
const storeWith = (parts: Partial<Creates>) => {
  const read = async () => ({ row, now: 2_000 });
  const replace = async () => ({ isWritten: true, now: 2_000 });
  return storeOf({ ...memoryCreates({ scope: 'eu' }), read, replace, ...parts });
};

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] }));
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it('a change of a row that keeps changing is given up after some seconds', async () => {
  const begun = Date.now();
  const store = storeWith({ replace: async () => ({ isWritten: false, now: 0 }) });
  const error = await whileTimePasses(errorOf(change(store, key, () => ({ next: moved }))), 1);
  expect(error).toHaveProperty('message', 'The store\'s row of "order-1" keeps changing: try again.');
  expect((Date.now() - begun) / 5_000).toBeCloseTo(1, 0);
});

describe('what has happened', () => {
  it('is recorded as soon as the store answers again, with ever longer pauses', async () => {
    let reads = 0;
    const at: number[] = [];
    const read = async () => {
      at.push(Math.round((Date.now() - begun) / 100) * 100);
      if (++reads < 7) throw new Error('no database');
      return { row, now: 2_000 };
    };
    const begun = Date.now();
    const store = storeWith({ read });
    const recording = record({ store, call, attempt } as never, () => ({ next: moved }));
    await vi.advanceTimersByTimeAsync(100_000);
    expect(await recording).toMatchObject({ next: moved });
    // 100 ms, and three times as long each time, but never more than half a minute.
    expect(at).toEqual([0, 100, 400, 1_300, 4_000, 12_100, 36_400]);
  });

  it('is not tried again if another create has the payment', async () => {
    const replace = vi.fn(() => Promise.reject(new PaymentTaken()));
    const recording = record({ store: storeWith({ replace }), call, attempt } as never, () => ({ next: moved }));
    await expect(recording).rejects.toThrow(PaymentTaken);
    expect(replace).toHaveBeenCalledOnce();
  });
});
