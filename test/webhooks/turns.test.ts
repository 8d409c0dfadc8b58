// Turns: of each payment one runs at a time, and one waits.
import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, it } from 'vitest';
import { takeTurns } from '../../src/webhooks/turns.ts';

/** Turns that the test ends, and the waiters of each. */
function open() {
  const turns: { waiters: string[]; end: () => void; context: unknown }[] = [];
  const contexts = new AsyncLocalStorage<string>();
  const take = takeTurns<{ name: string }, string>((_, all) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = () => {
      for (const waiter of all) waiter.resolve(`${waiter.name} ended`);
      resolve();
    };
    turns.push({ waiters: all.map(({ name }) => name), end, context: contexts.getStore() });
    return promise;
  });
  const from = (name: string, id = 'a') => contexts.run(name, () => take(id, { name }, 'signed'));
  const end = async (turn: number) => {
    turns[turn]?.end();
    await new Promise(setImmediate);
  };
  return { turns, from, end };
}

it('a turn runs at once, and all that come meanwhile share the next', async () => {
  const { turns, from, end } = open();
  const all = ['1', '2', '3'].map(name => from(name));
  from('other', 'b');
  expect(turns.map(({ waiters }) => waiters)).toEqual([['1'], ['other']]);
  await end(0);
  const last = from('4');
  expect(turns.at(-1)?.waiters).toEqual(['2', '3']);
  await end(2);
  await end(3);
  expect(turns.at(-1)?.waiters).toEqual(['4']);
  expect(await Promise.all([...all, last])).toEqual(['1 ended', '2 ended', '3 ended', '4 ended']);
});

it('a turn runs in the context of its first callback', async () => {
  const { turns, from, end } = open();
  for (const waiter of ['1', '2', '3']) from(waiter);
  await end(0);
  expect(turns.map(({ context }) => context)).toEqual(['1', '2']);
});
