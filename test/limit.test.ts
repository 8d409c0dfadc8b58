import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { limit } from '../src/limit.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const REASON = new Error('the shop closes');

/** Works that a test ends, and the order in which they began. */
function open(running: number, longestWait?: Parameters<typeof limit>[1]) {
  const limited = limit(running, longestWait);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const run = (id: number, signal?: AbortSignal) =>
    limited(() => {
      begun.push(id);
      return new Promise<number>(resolve => {
        ends[id] = () => resolve(id);
      });
    }, signal);
  const turn = () => vi.advanceTimersByTimeAsync(0);
  const end = (id: number) => {
    ends[id]?.();
    return turn();
  };
  return { limited, begun, run, end, turn };
}

it('runs so many at a time, and the others in order as places become free', async () => {
  const { begun, run, end, turn } = open(2);
  for (const first of [0, 4]) {
    const all = [0, 1, 2, 3].map(id => run(first + id));
    await turn();
    expect(begun).toHaveLength(first + 2);
    for (const id of [1, 0, 2, 3]) await end(first + id);
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3].map(id => first + id));
  }
  expect([begun, vi.getTimerCount()]).toEqual([[0, 1, 2, 3, 4, 5, 6, 7], 0]);
});

it('gives the place of a work that fails to the next', async () => {
  const { limited, begun, run, end, turn } = open(1);
  const failed = limited(() => Promise.reject(REASON)).catch(error => error);
  const next = run(0);
  await turn();
  expect([await failed, begun]).toEqual([REASON, [0]]);
  await end(0);
  expect(await next).toBe(0);
});

it('lets a work go with its signal, before and while it waits, and the one behind it moves up', async () => {
  const { begun, run, end, turn } = open(1);
  const controller = new AbortController();
  const { signal } = new AbortController();
  const running = run(0, signal);
  await expect(run(1, AbortSignal.abort(REASON))).rejects.toBe(REASON);
  const leaving = run(2, controller.signal).catch(error => error);
  const behind = run(3, signal);
  await turn();
  controller.abort(REASON);
  expect([await leaving, getEventListeners(signal, 'abort').length]).toEqual([REASON, 1]);
  await end(0);
  expect([begun, getEventListeners(signal, 'abort'), getEventListeners(controller.signal, 'abort')]).toEqual([
    [0, 3],
    [],
    [],
  ]);
  await end(3);
  expect(await Promise.all([running, behind])).toEqual([0, 3]);
});

it('refuses a work that has waited too long, and leaves no timer', async () => {
  const { begun, run, end, turn } = open(1, { ms: 100, error: () => new Error('no place') });
  const running = run(0);
  const late = run(1).catch(error => error);
  await vi.advanceTimersByTimeAsync(99);
  const next = run(2);
  await turn();
  expect(begun).toEqual([0]);
  await vi.advanceTimersByTimeAsync(1);
  expect(await late).toEqual(new Error('no place'));
  await end(0);
  expect([begun, vi.getTimerCount()]).toEqual([[0, 2], 0]);
  await end(2);
  expect(await Promise.all([running, next])).toEqual([0, 2]);
});
