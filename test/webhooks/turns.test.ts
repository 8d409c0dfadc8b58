// Turns of payments, which leave nothing behind.
import { randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { takeTurns, type Visitor } from '../../src/webhooks/turns.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const bytesInUse = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

it('a payment whose turn has ended takes no memory', async () => {
  const lane = { lookUp: (work: () => Promise<unknown>) => work() } as Visitor['lane'];
  const turns = takeTurns<Visitor>(() => ({ lookedUp: Promise.resolve(), done: Promise.resolve() }));
  const visit = async (count: number) => {
    for (let index = 0; index < count; index++) turns.join({ paymentId: randomUUID(), lane, reject: () => {} });
    await new Promise(setImmediate);
  };
  await visit(1_000);
  const before = bytesInUse();
  await visit(50_000);
  // Kept, each would take 150 bytes or more.
  expect(bytesInUse() - before).toBeLessThan(2_000_000);
});
