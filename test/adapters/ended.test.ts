// When the work of a transaction may settle that its library has ended already.
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { beforeEnd } from '../../src/adapters/ended.ts';

/** What it has become after some turns of the event loop. */
async function afterTurns(settling: Promise<unknown>) {
  let result: unknown = 'waits';
  settling.then(
    value => {
      result = value;
    },
    error => {
      result = error;
    },
  );
  for (let turn = 0; turn < 4; turn++) await setImmediate();
  return result;
}

const thrown = new Error('of the shop');
const fail = () => Promise.reject(thrown);

it('a work settles while there is a transaction', async () => {
  expect(await afterTurns(beforeEnd(Promise.resolve('done'), () => false))).toBe('done');
  expect(await afterTurns(beforeEnd(fail(), () => false))).toBe(thrown);
});

it('a work never settles once its transaction has ended, also if that happens in the same turn', async () => {
  expect(await afterTurns(beforeEnd(Promise.resolve('done'), () => true))).toBe('waits');
  expect(await afterTurns(beforeEnd(fail(), () => true))).toBe('waits');
  let hasEnded = false;
  const settling = afterTurns(beforeEnd(fail(), () => hasEnded));
  await Promise.resolve();
  hasEnded = true;
  expect(await settling).toBe('waits');
});
