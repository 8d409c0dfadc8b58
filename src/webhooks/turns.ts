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

interface Turn<V> {
  waiters: V[];
  /** The lanes in which it waits for a place. The first that has one lets it begin. */
  lanes: Set<Lane>;
  hasBegun: boolean;
}

interface Queue<V> {
  isAtWork?: boolean;
  next?: Turn<V> | undefined;
}

/** @param begin begins a payment's turn, of these waiters, by its lookup */
export function takeTurns<V extends Waiter>(begin: (paymentId: string, waiters: readonly V[]) => StartedTurn) {
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
    queue.next ??= { waiters: [], lanes: new Set(), hasBegun: false };
    queue.next.waiters.push(waiter);
    const { waiters } = queue.next;
    if (!queue.isAtWork) waitIn(lane, queue, queue.next, paymentId);
    return () => {
      const at = waiters.indexOf(waiter);
      if (at >= 0 && waiters.length > 1) waiters.splice(at, 1);
    };
  };

  const waitIn = (lane: Lane, queue: Queue<V>, turn: Turn<V>, paymentId: string): void => {
    if (turn.lanes.has(lane)) return;
    turn.lanes.add(lane);
    const enter = async () => {
      // Another lane was quicker.
      if (turn.hasBegun) return;
      const { lookedUp, done } = start(paymentId, queue, turn);
      const end = () => endOf(queue, paymentId);
      done.then(end, end);
      await lookedUp.catch(() => {});
    };
    lane.lookUp(enter).catch(error => {
      turn.lanes.delete(lane);
      if (turn.hasBegun || turn.lanes.size > 0) return;
      queue.next = undefined;
      endOf(queue, paymentId);
      for (const { reject } of turn.waiters) reject(error);
    });
  };

  const start = (paymentId: string, queue: Queue<V>, turn: Turn<V>): StartedTurn => {
    turn.hasBegun = true;
    queue.next = undefined;
    queue.isAtWork = true;
    return begin(paymentId, turn.waiters);
  };

  const endOf = (queue: Queue<V>, paymentId: string): void => {
    queue.isAtWork = false;
    const { next } = queue;
    if (!next) queues.delete(paymentId);
    else for (const { lane } of next.waiters) waitIn(lane, queue, next, paymentId);
  };

  return {
    join,
    isAtWork: (paymentId: string): boolean => queues.get(paymentId)?.isAtWork === true,
  };
}
