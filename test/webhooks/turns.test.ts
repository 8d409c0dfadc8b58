// Turns: of each payment one runs at a time, and one waits.
import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, it } from 'vitest';
import { takeTurns } from '../../src/webhooks/turns.ts';

/** Turns that the test ends, and the waiters of each. */
function open() {
  const turns: { waiters: readonly string[]; end: () => void; context: unknown }[] = [];
  const contexts = new AsyncLocalStorage<string>();
  const { join, share, isRunning } = takeTurns<string>(
    (_, waiters) => new Promise(end => turns.push({ waiters, end, context: contexts.getStore() })),
  );
  const from = (waiter: string, id = 'a') => contexts.run(waiter, () => share(id, waiter) || join(id, waiter));
  const end = async (turn: number) => {
    turns[turn]?.end();
    await new Promise(setImmediate);
  };
  return { turns, from, end, isRunning };
}

it('a turn runs at once, and all that come meanwhile share the next', async () => {
  const { turns, from, end, isRunning } = open();
  for (const waiter of ['1', '2', '3']) from(waiter);
  from('other', 'b');
  expect(turns.map(({ waiters }) => waiters)).toEqual([['1'], ['other']]);
  await end(0);
  from('4');
  expect(turns.at(-1)?.waiters).toEqual(['2', '3']);
  await end(2);
  await end(3);
  expect([turns.at(-1)?.waiters, isRunning('a'), isRunning('b')]).toEqual([['4'], false, true]);
});

it('a turn runs in the context of its first callback', async () => {
  const { turns, from, end } = open();
  for (const waiter of ['1', '2', '3']) from(waiter);
  await end(0);
  expect(turns.map(({ context }) => context)).toEqual(['1', '2']);
});
