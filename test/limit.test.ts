import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { limit } from '../src/limit.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Works that end when they are told, and in which order they began. */
function works() {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const work = (id: number) => () => {
    begun.push(id);
    return new Promise<number>(resolve => {
      ends[id] = () => resolve(id);
    });
  };
  const turn = () => vi.advanceTimersByTimeAsync(0);
  const end = (id: number) => {
    ends[id]?.();
    return turn();
  };
  return { begun, work, end, turn };
}

it('runs so many at a time, and the others in order as places become free', async () => {
  const { begun, work, end, turn } = works();
  const limited = limit(2);
  const all = [0, 1, 2, 3].map(id => limited(work(id)));
  await turn();
  expect(begun).toEqual([0, 1]);
  await end(1);
  expect(begun).toEqual([0, 1, 2]);
  await end(0);
  expect(begun).toEqual([0, 1, 2, 3]);
  await end(2);
  await end(3);
  expect(await Promise.all(all)).toEqual([0, 1, 2, 3]);
  const later = [4, 5, 6].map(id => limited(work(id)));
  await turn();
  expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
  await end(4);
  await end(5);
  await end(6);
  expect(await Promise.all(later)).toEqual([4, 5, 6]);
});

it('gives the place of a work that fails to the next', async () => {
  const { begun, work, end, turn } = works();
  const limited = limit(1);
  const failed = limited(() => Promise.reject(new Error('no'))).catch(error => error);
  const next = limited(work(0));
  await turn();
  expect([await failed, begun]).toEqual([new Error('no'), [0]]);
  await end(0);
  expect(await next).toBe(0);
});

it('takes no place for a work whose signal is aborted by then, and does not let it wait', async () => {
  const { begun, work, end, turn } = works();
  const limited = limit(1);
  const reason = new Error('the shop closes');
  const running = limited(work(0));
  await expect(limited(work(1), AbortSignal.abort(reason))).rejects.toBe(reason);
  const behind = limited(work(2));
  await end(0);
  expect([await running, begun]).toEqual([0, [0, 2]]);
  await end(2);
  await turn();
  expect(await behind).toBe(2);
});

it('lets a work that waits go with its signal, and the one behind it moves up', async () => {
  const { begun, work, end, turn } = works();
  const limited = limit(1);
  const controller = new AbortController();
  const reason = new Error('the shop closes');
  const running = limited(work(0));
  const leaving = limited(work(1), controller.signal).catch(error => error);
  const behind = limited(work(2));
  await turn();
  controller.abort(reason);
  expect(await leaving).toBe(reason);
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  await end(0);
  expect(begun).toEqual([0, 2]);
  await end(2);
  expect(await Promise.all([running, behind])).toEqual([0, 2]);
});

it('leaves nothing on the signal of a work that has had its turn', async () => {
  const { work, end, turn } = works();
  const limited = limit(1);
  const { signal } = new AbortController();
  const running = limited(work(0), signal);
  const next = limited(work(1), signal);
  await turn();
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  await end(0);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  await end(1);
  expect(await Promise.all([running, next])).toEqual([0, 1]);
});

it('turns away who has waited for too long, and leaves no timer of those who have not', async () => {
  const { begun, work, end, turn } = works();
  const limited = limit(1, { ms: 100, error: () => new Error('no place') });
  const running = limited(work(0));
  const late = limited(work(1)).catch(error => error);
  await vi.advanceTimersByTimeAsync(99);
  const next = limited(work(2));
  await turn();
  expect(begun).toEqual([0]);
  await vi.advanceTimersByTimeAsync(1);
  expect(await late).toEqual(new Error('no place'));
  await end(0);
  expect([begun, vi.getTimerCount()]).toEqual([[0, 2], 0]);
  await end(2);
  expect(await Promise.all([running, next])).toEqual([0, 2]);
});

it('waits for its turn as long as it takes, if nothing else is said', async () => {
  const { begun, work, end, turn } = works();
  const limited = limit(1);
  const both = [limited(work(0)), limited(work(1))];
  await turn();
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(10_000_000);
  await end(0);
  expect(begun).toEqual([0, 1]);
  await end(1);
  expect(await Promise.all(both)).toEqual([0, 1]);
});
