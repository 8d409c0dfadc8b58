// Turns of payments: who shares one, which lane begins it, and that they leave nothing behind.
import { randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { takeTurns, type Waiter } from '../../src/webhooks/turns.ts';
import { ID } from '../support/fixtures.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const bytesInUse = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

/** A lane that lets in, or turns away, when it is told. */
function openLane() {
  const waiting: { enter(): void; refuse(error: Error): void }[] = [];
  const lookUp = <T>(work: () => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ enter: () => void work().then(resolve, reject), refuse: reject });
    });
  return { lane: { lookUp } as Waiter['lane'], waiting };
}

/** Turns of one payment, and its waiters by name. */
function openTurns() {
  const begun: string[][] = [];
  const refused: unknown[] = [];
  const ends: (() => void)[] = [];
  const turns = takeTurns<Waiter & { name: string }>((_, waiters) => {
    begun.push(waiters.map(({ name }) => name));
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.push(resolve);
    return { lookedUp: Promise.resolve(), done: promise };
  });
  const join = (name: string, { lane }: Pick<Waiter, 'lane'>) =>
    turns.join({ name, paymentId: ID, lane, reject: error => refused.push([name, error]) });
  /** Ends the turn that began last. */
  const end = async () => {
    ends.at(-1)?.();
    await settle();
  };
  return { join, begun, refused, end, isAtWork: () => turns.isAtWork(ID) };
}

const settle = () => new Promise(setImmediate);

describe('a turn', () => {
  it('waits in a lane once, however many of its waiters come by it', () => {
    const { lane, waiting } = openLane();
    const { join, begun } = openTurns();
    join('first', { lane });
    join('second', { lane });
    expect(waiting).toHaveLength(1);
    waiting[0]?.enter();
    expect(begun).toEqual([['first', 'second']]);
  });

  it('is begun by the lane that is quicker, and by no other after it', async () => {
    const [signed, unsigned] = [openLane(), openLane()];
    const { join, begun, end, isAtWork } = openTurns();
    join('unsigned', unsigned);
    join('signed', signed);
    expect(isAtWork()).toBe(false);
    signed.waiting[0]?.enter();
    unsigned.waiting[0]?.enter();
    expect([begun, isAtWork()]).toEqual([[['unsigned', 'signed']], true]);
    await end();
    expect(isAtWork()).toBe(false);
  });

  it('waits also in the lane of a waiter that joins it after the one before has ended', async () => {
    const [signed, unsigned] = [openLane(), openLane()];
    const { join, begun, end } = openTurns();
    join('first', unsigned);
    unsigned.waiting[0]?.enter();
    join('second', unsigned);
    await end();
    join('third', signed);
    signed.waiting[0]?.enter();
    expect(begun).toEqual([['first'], ['second', 'third']]);
  });

  it('comes without those who have left, but for the last', () => {
    const { lane, waiting } = openLane();
    const { join, begun } = openTurns();
    const [leaveFirst, leaveSecond, leaveThird] = ['first', 'second', 'third'].map(name => join(name, { lane }));
    leaveFirst?.();
    // Who has left can leave no other.
    leaveFirst?.();
    leaveSecond?.();
    leaveThird?.();
    waiting[0]?.enter();
    expect(begun).toEqual([['third']]);
  });

  it('is given up when every lane in which it waits has turned it away, and the next can begin', async () => {
    const [signed, unsigned] = [openLane(), openLane()];
    const { join, begun, refused } = openTurns();
    join('unsigned', unsigned);
    join('signed', signed);
    unsigned.waiting[0]?.refuse(new Error('too many'));
    await settle();
    expect(refused).toEqual([]);
    const error = new Error('too many of these, too');
    signed.waiting[0]?.refuse(error);
    await settle();
    expect(refused).toEqual([
      ['unsigned', error],
      ['signed', error],
    ]);
    join('later', unsigned);
    unsigned.waiting[1]?.enter();
    expect(begun).toEqual([['later']]);
  });

  it('that has begun is not given up when a lane turns it away', async () => {
    const [signed, unsigned] = [openLane(), openLane()];
    const { join, refused, isAtWork } = openTurns();
    join('unsigned', unsigned);
    join('signed', signed);
    signed.waiting[0]?.enter();
    await settle();
    unsigned.waiting[0]?.refuse(new Error('too many'));
    await settle();
    expect([refused, isAtWork()]).toEqual([[], true]);
  });
});

it.each<[string, (work: () => Promise<unknown>) => Promise<unknown>]>([
  ['has ended', work => work()],
  ['was given up', () => Promise.reject(new Error('too many'))],
])('a payment whose turn %s takes no memory', async (_, lookUp) => {
  const lane = { lookUp } as Waiter['lane'];
  const turns = takeTurns<Waiter>(() => ({ lookedUp: Promise.resolve(), done: Promise.resolve() }));
  const visit = async (count: number) => {
    for (let index = 0; index < count; index++) turns.join({ paymentId: randomUUID(), lane, reject: () => {} });
    await new Promise(setImmediate);
  };
  await visit(1_000);
  const before = bytesInUse();
  await visit(20_000);
  // Kept, each would take 150 bytes or more.
  expect(bytesInUse() - before).toBeLessThan(2_000_000);
});
