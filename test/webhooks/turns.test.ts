// Turns of payments: who shares one, which lane begins it, and that they leave nothing behind.
import { randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { type LookUpAgain, takeTurns, type Waiter } from '../../src/webhooks/turns.ts';
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
  let again: LookUpAgain<Waiter & { name: string }> = async () => Promise.reject(new Error('No turn has begun.'));
  const turns = takeTurns<Waiter & { name: string }>((_, waiters, lookUpAgain) => {
    again = lookUpAgain;
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
  /** A further lookup of the turn that is at work, of these lanes' waiters. */
  const lookUpAgain = <T>(lanes: Pick<Waiter, 'lane'>[], lookUp: () => Promise<T>) => {
    const looking = again(
      lanes.map(({ lane }) => ({ name: 'own', paymentId: ID, lane, reject: () => {} })),
      lookUp,
    );
    // Whether it ends well is asked later.
    looking.catch(() => {});
    return looking;
  };
  return { join, begun, refused, end, lookUpAgain, isAtWork: () => turns.isAtWork(ID) };
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
    const { join, begun, end, isAtWork } = openTurns();
    join('first', unsigned);
    unsigned.waiting[0]?.enter();
    join('second', unsigned);
    await end();
    expect(isAtWork()).toBe(false);
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

describe('a further lookup of a turn', () => {
  /** A turn that has begun in one lane, and those who wait for its end in another. */
  async function atWork(names: string[] = []) {
    const [signed, unsigned] = [openLane(), openLane()];
    const turns = openTurns();
    turns.join('first', unsigned);
    unsigned.waiting.shift()?.enter();
    for (const name of names) turns.join(name, signed);
    await settle();
    return { ...turns, signed, unsigned };
  }

  it.each([
    ['was there before it', ['second'], []],
    ['comes while it waits', [], ['second']],
    ['comes several times', ['second'], ['third', 'fourth']],
  ])('is made in the lane of who waits for the end of the turn, and %s', async (_, before, after) => {
    const { join, begun, end, lookUpAgain, signed, unsigned } = await atWork(before);
    let lookups = 0;
    const again = lookUpAgain([unsigned, unsigned], async () => {
      lookups += 1;
      return 'found';
    });
    for (const name of after) join(name, signed);
    expect([unsigned.waiting.length, signed.waiting.length]).toEqual([1, 1]);
    signed.waiting.shift()?.enter();
    expect(await again).toBe('found');
    unsigned.waiting.shift()?.enter();
    expect([lookups, begun]).toEqual([1, [['first']]]);
    await end();
    signed.waiting.shift()?.enter();
    expect(begun).toEqual([['first'], [...before, ...after]]);
  });

  it('keeps the place in its lane until it is made, also where it fails', async () => {
    const { lookUpAgain, unsigned } = await atWork();
    const answer = Promise.withResolvers<never>();
    let isPlaceFree = false;
    const lane = {
      lookUp: async (work: () => Promise<unknown>) => {
        await work();
        isPlaceFree = true;
      },
    } as Waiter['lane'];
    const again = lookUpAgain([{ lane }, unsigned], () => answer.promise);
    await settle();
    expect(isPlaceFree).toBe(false);
    answer.reject(new Error('gone'));
    await expect(again).rejects.toThrow('gone');
    expect(isPlaceFree).toBe(true);
  });

  it('fails when every lane has turned it away, and the turn goes on', async () => {
    const { join, begun, refused, end, lookUpAgain, isAtWork, signed, unsigned } = await atWork(['second']);
    const again = lookUpAgain([unsigned], async () => 'found');
    const error = new Error('too many');
    unsigned.waiting.shift()?.refuse(error);
    await settle();
    expect(await Promise.race([again, 'waiting'])).toBe('waiting');
    signed.waiting.shift()?.refuse(error);
    await expect(again).rejects.toBe(error);
    expect([isAtWork(), refused]).toEqual([true, []]);
    const next = lookUpAgain([unsigned], async () => 'found');
    unsigned.waiting.shift()?.enter();
    expect(await next).toBe('found');
    join('third', unsigned);
    await end();
    signed.waiting.at(-1)?.enter();
    expect(begun).toEqual([['first'], ['second', 'third']]);
  });
});

it.each<[string, (work: () => Promise<unknown>) => Promise<unknown>]>([
  ['has ended', work => work()],
  ['was given up', () => Promise.reject(new Error('too many'))],
])('a payment whose turn %s takes no memory', { tags: 'long' }, async (_, lookUp) => {
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
