import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Deadline } from '../../src/deadline.ts';
import { change, record, withinCall } from '../../src/store/change.ts';
import { PaymentTaken } from '../../src/store/contract.ts';
import { type CreateRow, newRow } from '../../src/store/creates.ts';
import { InFlight } from '../../src/store/in-flight.ts';
import { type CreateStore, memoryCreates, storeOf } from '../support/creates.ts';
import { errorOf } from '../support/fixtures.ts';
import { whileTimePasses } from '../support/passing-time.ts';

const key = { scope: 'eu', reference: 'order-1' };
const row: CreateRow = {
  ...newRow(
    {
      ...key,
      attemptId: 'first',
      ...({
        paymentType: 'DEPOSIT',
        paymentMethod: 'CARD',
        amount: '25.5',
        currency: 'EUR',
        bodyHash: 'hash',
      } as const),
      timeoutMs: 0,
    },
    1_000,
  ),
  revision: 1,
};
const moved = { ...row, looks: 1 };

/** A store that holds the row, unless it is told otherwise. */
function storeWith(parts: Partial<CreateStore>) {
  const read = vi.fn(async () => ({ row, now: 2_000 }));
  const replace = vi.fn(async () => ({ isReplaced: true, now: 2_000 }));
  const insert = vi.fn(async () => ({ row, isInserted: true, now: 2_000 }));
  return {
    store: storeOf({ ...memoryCreates({ scope: 'eu' }), read, replace, insert, ...parts }),
    read,
    replace,
    insert,
  };
}
const hangs = () => new Promise<never>(() => {});

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] }));
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('a change of a row', () => {
  it('is written over the row as it was read, and answers what is there then', async () => {
    const { store, replace } = storeWith({});
    expect(await change(store, key, () => ({ next: moved, of: 'mine' }))).toEqual({
      next: moved,
      of: 'mine',
      row: { ...moved, revision: 2 },
      now: 2_000,
    });
    expect(replace).toHaveBeenCalledExactlyOnceWith(moved, 1, undefined);
  });

  it('writes nothing where nothing changes', async () => {
    const { store, replace } = storeWith({});
    expect(await change(store, key, () => ({}))).toEqual({ row, now: 2_000 });
    expect(await change(store, key, next => ({ next }))).toEqual({ next: row, row, now: 2_000 });
    expect(replace).not.toHaveBeenCalled();
  });

  it('does not read what is known', async () => {
    const { store, read, insert } = storeWith({});
    expect(await change(store, key, () => ({ next: row }), { known: { now: 0 } })).toMatchObject({ row, now: 2_000 });
    expect([read.mock.calls.length, insert.mock.calls.length]).toEqual([0, 1]);
  });

  it('is decided anew on what somebody else has written, and after the second time with a pause', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    let tries = 0;
    const pauses = vi.spyOn(globalThis, 'setTimeout');
    const { store, read } = storeWith({ replace: async () => ({ isReplaced: ++tries === 5, now: 0 }) });
    await whileTimePasses(
      change(store, key, () => ({ next: moved })),
      1,
    );
    expect(read).toHaveBeenCalledTimes(5);
    // The others are the limits of statements.
    expect(pauses.mock.calls.map(([, ms]) => ms).filter(ms => ms !== 5_000)).toEqual([10, 15, 20]);
  });

  it('is tried three times after the longest wait, and given up then', async () => {
    let tries = 0;
    const replace = async () => {
      tries += 1;
      vi.setSystemTime(Date.now() + 6_000);
      return { isReplaced: false, now: 0 };
    };
    const { store } = storeWith({ replace });
    const error = await whileTimePasses(errorOf(change(store, key, () => ({ next: moved }))), 1);
    expect(error).toHaveProperty('message', 'The store\'s row of "order-1" keeps changing: try again.');
    expect(tries).toBe(3);
  });

  it('waits five seconds for a statement, and for ever only where that is asked for', async () => {
    const { store } = storeWith({ read: hangs });
    const changing = errorOf(change(store, key, () => ({ next: moved })));
    await vi.advanceTimersByTimeAsync(4_999);
    await vi.advanceTimersByTimeAsync(1);
    expect(await changing).toHaveProperty('message', 'The store did not answer within 5000 ms.');
    const ended = vi.fn();
    change(store, key, () => ({ next: moved }), { isUnbounded: true }).then(ended, ended);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(ended).not.toHaveBeenCalled();
  });
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
    const { store } = storeWith({ read });
    const recording = record(store, key, () => ({ next: moved }));
    await vi.advanceTimersByTimeAsync(100_000);
    expect(await recording).toMatchObject({ next: moved });
    // 100 ms, and three times as long each time, but never more than half a minute.
    expect(at).toEqual([0, 100, 400, 1_300, 4_000, 12_100, 36_400]);
  });

  it('is not tried again if another create has the payment', async () => {
    const replace = vi.fn(() => Promise.reject(new PaymentTaken()));
    const recording = record(storeWith({ replace }).store, key, () => ({ next: moved }));
    await expect(recording).rejects.toThrow(PaymentTaken);
    expect(replace).toHaveBeenCalledOnce();
  });

  it('is given up after five minutes', async () => {
    const read = vi.fn(() => Promise.reject(new Error('no database')));
    const recording = record(storeWith({ read }).store, key, () => ({ next: moved }));
    await vi.advanceTimersByTimeAsync(300_000);
    expect(await recording).toBeUndefined();
    // The last one at 276.4 s: half a minute later five minutes are over.
    expect(read).toHaveBeenCalledTimes(15);
  });
});

describe('whoever waits for the store', () => {
  const stopped = (code: string) =>
    expect.objectContaining({
      name: 'ConnectionError',
      code,
      message: `The store, or a lookup, did not answer in time (${code}). Work that has started continues: look at the reference before you try again.`,
    });

  it('begins nothing with a signal that is aborted already', async () => {
    const work = vi.fn(hangs);
    const waiting = withinCall(work, { signal: AbortSignal.abort(), timeout: 1_000 });
    await expect(waiting).rejects.toEqual(stopped('aborted'));
    expect(work).not.toHaveBeenCalled();
  });

  it('is told why it stopped', async () => {
    const late = errorOf(withinCall(hangs, { timeout: 1_000 }));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await late).toEqual(stopped('timeout'));
    const controller = new AbortController();
    const left = errorOf(withinCall(hangs, { signal: controller.signal, timeout: 1_000 }));
    controller.abort();
    expect(await left).toEqual(stopped('aborted'));
  });

  it("gets the work's own error, also if it has left in the same moment", async () => {
    const controller = new AbortController();
    const broken = new Error('broken');
    const work = async () => {
      controller.abort();
      throw broken;
    };
    const failing = withinCall(() => Promise.reject(broken), { signal: controller.signal, timeout: 1_000 });
    await expect(failing).rejects.toBe(broken);
    await expect(withinCall(work, { signal: controller.signal, timeout: 1_000 })).rejects.toEqual(stopped('aborted'));
  });
});

describe('work that several wait for', () => {
  const gone = (left: string) => new Error(left);

  it('tells the work why the last of them has left', async () => {
    const reasons: unknown[] = [];
    const open = () =>
      new InFlight<void>(
        signal =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
              reasons.push(signal.reason);
              reject(signal.reason);
            });
          }),
      );
    const late = open();
    const waiting = errorOf(late.wait({ deadline: new Deadline(50) }, gone));
    await vi.advanceTimersByTimeAsync(50);
    await waiting;
    const aborted = open();
    await errorOf(aborted.wait({ deadline: new Deadline(50), signal: AbortSignal.abort('closed') }, gone));
    expect(reasons).toEqual([
      expect.objectContaining({ constructor: expect.objectContaining({ name: 'LateError' }) }),
      'closed',
    ]);
  });

  it('leaves no timer and no listener behind', async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    const inFlight = new InFlight(async () => 'done');
    expect(await inFlight.wait({ deadline: new Deadline(60_000), signal }, gone)).toBe('done');
    expect(vi.getTimerCount()).toBe(0);
    const [type, listener] = added.mock.calls[0] ?? [];
    expect(removed).toHaveBeenCalledWith(type, listener);
    expect(type).toBe('abort');
  });
});
