// Reads and changes the row of a create, despite concurrent changes and temporary failures of the store.
import { backgroundDelay, Deadline, delay, LateError, within } from '../../deadline.ts';
import { ConnectionError } from '../../errors.ts';
import type { Store } from '../contract.ts';
import { isKeepable } from '../key.ts';
import { type CreateRow, createOf, type ReadRow, storeRowOf } from '../rules/create-row.ts';
import type { Step } from '../rules/transitions.ts';
import type { WaitLimits } from './in-flight.ts';
import { type StoreCall, warn } from './reports.ts';

/** Tries while others change the row: for some five seconds. */
const MOST_TRIES = 60;
/** Milliseconds of random delay before a retry, times the number of tries. */
const PAUSE = 5;

/** Milliseconds to retry recording while the store fails. */
const LONGEST_RECORDING = 300_000;
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 30_000;

/** Milliseconds that a create waits for its recording: a customer waits too. */
const LONGEST_WAIT = 5_000;

/** Waits within the caller's limits, but never stops the work. @throws {ConnectionError} `timeout`, `aborted` */
export async function withinCall<T>(
  work: () => Promise<T>,
  { signal, timeout }: { signal?: AbortSignal | undefined; timeout: number },
): Promise<T> {
  const working = signal?.aborted ? new Promise<never>(() => {}) : work();
  return within(working, { ms: timeout, signal }, code => {
    throw new ConnectionError(
      `The store, or a lookup, did not answer in time (${code}). Work that has started continues: check the reference before you try again.`,
      code,
    );
  });
}

/** @throws {LateError} at the limits. The statement may have effect anyway */
export const answerWithin = <T>({ deadline, signal }: WaitLimits, statement: Promise<T>): Promise<T> =>
  within(statement, { ms: deadline.remaining, signal }, () => {
    throw new LateError('it did not answer in time');
  });

/** After the limit the recording continues in the background. @throws its error, if it comes in time */
export const waitForRecording = <T>(recording: Promise<T>, { deadline, signal }: WaitLimits): Promise<T | undefined> =>
  within<T | undefined>(recording, { ms: Math.min(deadline.remaining, LONGEST_WAIT), signal }, () => undefined);

type Key = Pick<CreateRow, 'reference'>;

/** Skips the read if a gateway names a reference that no store can keep. */
export const readCreate = async (store: Store, { reference }: Key): Promise<ReadRow | undefined> =>
  isKeepable(reference) ? rowIn(await store.read({ kind: 'create', id: reference })) : undefined;

export const ownerOf = async (store: Store, paymentId: string): Promise<ReadRow | undefined> =>
  rowIn(await store.owner(paymentId.toLowerCase()));

const rowIn = ({ row, now }: Awaited<ReturnType<Store['read']>>): ReadRow | undefined =>
  row && { ...createOf(row), now };

/** Whether another create has the payment. By name, because two copies of the SDK may be loaded. */
export const isTaken = (error: unknown): boolean => error instanceof Error && error.name === 'PaymentTaken';

export type Transition = (row: ReadRow | undefined) => Step;

export type Changed = Step & { row?: ReadRow | undefined };

/** Applies a transition to the current row, and retries after a concurrent change. @param known its row, null for none */
export async function change(
  store: Store,
  key: Key,
  transition: Transition,
  known?: ReadRow | null,
  tx?: unknown,
): Promise<Changed> {
  let found = known;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    if (tries > 1) await delay(Math.random() * tries * PAUSE);
    if (found === undefined) found = rowIn(await store.read({ kind: 'create', id: key.reference }));
    const row = found ?? undefined;
    const step = transition(row);
    const { next } = step;
    if (!next || next === row) return { ...step, row };
    const written = await store.write({ ...storeRowOf(next), revision: row?.revision ?? 0 }, tx);
    if (written.isWritten) return { ...step, row: rowIn(written) };
    found = rowIn(written);
  }
  throw new Error(`The store's row of ${JSON.stringify(key.reference)} keeps changing: try again.`);
}

/** Retries a change for five minutes while the store fails, then warns. @throws {PaymentTaken} */
export async function record(
  create: StoreCall & { attempt: Key },
  transition: Transition,
  known?: ReadRow,
): Promise<Changed | undefined> {
  const deadline = new Deadline(LONGEST_RECORDING);
  let found = known;
  for (let pause = FIRST_PAUSE; ; pause = Math.min(3 * pause, LONGEST_PAUSE)) {
    try {
      return await change(create.store, create.attempt, transition, found);
    } catch (error) {
      if (isTaken(error)) throw error;
      // The change may have succeeded anyway, so the row must be read.
      found = undefined;
      if (deadline.remaining < pause) break;
      await backgroundDelay(pause);
    }
  }
  warn(create, 'create_not_recorded', create.attempt);
  return undefined;
}
