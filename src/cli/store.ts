// The operator's commands: list and settle doubts, list and close reviews, show a reference.
import type { Command } from 'commander';
import { GatewayClient } from '../client.ts';
import { doubts, find } from '../payments/references.ts';
import { resolveReview, reviews } from '../payments/reviews.ts';
import { isPaymentId } from '../schemas/id.ts';
import type { Difference } from '../schemas/records/matching.ts';
import type { SqlStoreOptions } from '../sql/store.ts';
import type { Store } from '../store/contract.ts';
import { CommandError, endWith, LOOK } from '../terminal/program.ts';
import { open } from './open.ts';
import { doubtsTable, entryText, reviewsTable } from './print.ts';

interface Result {
  /** For programs, under `--json`. */
  value: object;
  text: string;
  /** Whether a person must check something. */
  isOpen?: boolean;
}

export type StoreCommand = (store: Store, args: string[], despite?: Difference[]) => Promise<Result>;

/** Opens the store of a command line, runs its command, prints the result, and closes the connections. */
export async function runInStore(command: Command, run: StoreCommand): Promise<void> {
  const { json, despite, ...place } = command.opts<SqlStoreOptions & { json?: true; despite?: Difference[] }>();
  const { store, close } = open(place);
  try {
    const { row } = await store.read({ kind: 'gateway', id: '' });
    // A mistyped scope must not look as if nothing were wrong.
    if (!row) throw nothingIn(`No gateway was ever used in scope ${store.scope}.`);
    const { value, text, isOpen } = await run(store, command.args, despite);
    console.log(json ? JSON.stringify(value, null, 2) : text);
    endWith(isOpen ? LOOK : 0);
  } finally {
    await close();
  }
}

const nothingIn = (message: string) => new CommandError(`${message} Pass your app's --scope and --table-prefix.`, LOOK);

export const listDoubts: StoreCommand = async store => {
  const value = await doubts(store);
  return { value, text: doubtsTable(value, store.scope), isOpen: value.some(({ underWay }) => !underWay) };
};

export const listReviews: StoreCommand = async store => {
  const value = await reviews(store);
  return { value, text: reviewsTable(value, store.scope), isOpen: value.length > 0 };
};

export const show: StoreCommand = async (store, [reference = '']) => {
  const value = await find(store, reference);
  if (!value) throw nothingIn(`The store has no reference ${JSON.stringify(reference)} in scope ${store.scope}.`);
  return { value, text: entryText(value) };
};

export const settle: StoreCommand = async (store, [reference = '', answer = ''], despite) => {
  if (answer !== 'not_created' && !isPaymentId(answer)) {
    throw new CommandError(
      `${JSON.stringify(answer)} is not a payment id: pass the UUID from the gateway's support, or not_created.`,
    );
  }
  await new GatewayClient({ store }).settle(reference, answer, { despite });
  return show(store, [reference]);
};

export const resolve: StoreCommand = async (store, [id = '', status = '']) => {
  await resolveReview(store, id, status);
  return { value: { id, status }, text: `The review of ${id} with status ${status} is closed.` };
};
