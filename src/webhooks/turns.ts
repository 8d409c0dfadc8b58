// Callbacks of one payment take turns: one turn is at work and at most one waits, which all that arrive meanwhile join.
import type { Lane } from './lanes.ts';

/** A callback, or a sweep, that waits for its payment to be processed. */
export interface Waiter {
  paymentId: string;
  lane: Lane;
  reject(error: unknown): void;
}

/** A turn that has begun. */
export interface StartedTurn {
  /** Settles when the lookup is done: the lane's place is free then. */
  lookedUp: Promise<unknown>;
  /** Settles at the end of the turn. It never rejects. */
  done: Promise<unknown>;
}

/**
 * Makes a further lookup of the turn that is at work, in the lane of one of its waiters, or of those who wait for its end.
 *
 * @throws the lane's error, if each of them has turned it away
 */
export type LookUpAgain<V> = <T>(waiters: readonly V[], lookUp: () => Promise<T>) => Promise<T>;

/** A lookup that waits for a place: the first lane that has one makes it. */
interface PendingLookup {
  lanes: Set<Lane>;
  lookUp(): Promise<unknown>;
  refuse(error: unknown): void;
}

interface Queue<V> {
  isAtWork?: boolean;
  /** Those who share the next turn. */
  next?: V[] | undefined;
  /** The first lookup of the next turn, or a further one of that which is at work. */
  pending?: PendingLookup | undefined;
}

/** @param begin begins a payment's turn, of these waiters, by its lookup */
export function takeTurns<V extends Waiter>(
  begin: (paymentId: string, waiters: readonly V[], lookUpAgain: LookUpAgain<V>) => StartedTurn,
) {
  const queues = new Map<string, Queue<V>>();

  /**
   * Whoever waits for the same payment shares the turn: its lookup begins after all of them have arrived.
   *
   * @returns leaves it: the turn comes all the same, so its last waiter stays
   */
  const join = (waiter: V): (() => void) => {
    const { paymentId, lane } = waiter;
    const queue: Queue<V> = queues.get(paymentId) ?? {};
    queues.set(paymentId, queue);
    queue.next ??= [];
    const waiters = queue.next;
    waiters.push(waiter);
    // A flood in another lane must not hold it up.
    if (queue.pending) waitIn(lane, queue, queue.pending);
    else if (!queue.isAtWork) waitToBegin(paymentId, queue, waiters);
    return () => {
      const at = waiters.indexOf(waiter);
      if (at >= 0 && waiters.length > 1) waiters.splice(at, 1);
    };
  };

  const waitToBegin = (paymentId: string, queue: Queue<V>, waiters: readonly V[]): void => {
    const refuse = (error: unknown) => {
      queue.next = undefined;
      endOf(queue, paymentId);
      for (const { reject } of waiters) reject(error);
    };
    waitInLanes(queue, waiters, () => start(paymentId, queue, waiters), refuse);
  };

  const waitInLanes = (
    queue: Queue<V>,
    waiters: readonly V[],
    lookUp: PendingLookup['lookUp'],
    refuse: PendingLookup['refuse'],
  ): void => {
    const pending: PendingLookup = { lanes: new Set(), lookUp, refuse };
    queue.pending = pending;
    for (const { lane } of waiters) waitIn(lane, queue, pending);
  };

  const waitIn = (lane: Lane, queue: Queue<V>, pending: PendingLookup): void => {
    const isOver = () => queue.pending !== pending;
    if (isOver() || pending.lanes.has(lane)) return;
    pending.lanes.add(lane);
    const enter = async () => {
      // Another lane was quicker.
      if (isOver()) return;
      queue.pending = undefined;
      await pending.lookUp().catch(() => {});
    };
    lane.lookUp(enter).catch(error => {
      pending.lanes.delete(lane);
      if (isOver() || pending.lanes.size > 0) return;
      queue.pending = undefined;
      pending.refuse(error);
    });
  };

  /** @returns its first lookup */
  const start = (paymentId: string, queue: Queue<V>, waiters: readonly V[]): Promise<unknown> => {
    queue.next = undefined;
    queue.isAtWork = true;
    const lookUpAgain: LookUpAgain<V> = (own, lookUp) =>
      new Promise((resolve, reject) => {
        const looking = async () => {
          const answer = lookUp();
          resolve(answer);
          await answer;
        };
        waitInLanes(queue, [...own, ...(queue.next ?? [])], looking, reject);
      });
    const { lookedUp, done } = begin(paymentId, waiters, lookUpAgain);
    const end = () => endOf(queue, paymentId);
    done.then(end, end);
    return lookedUp;
  };

  const endOf = (queue: Queue<V>, paymentId: string): void => {
    queue.isAtWork = false;
    if (queue.next) waitToBegin(paymentId, queue, queue.next);
    else queues.delete(paymentId);
  };

  return {
    join,
    isAtWork: (paymentId: string): boolean => queues.get(paymentId)?.isAtWork === true,
  };
}
