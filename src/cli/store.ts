// The operator's commands: list and settle doubts, list and close reviews, show a reference.
import type { Command } from 'commander';
import { GatewayClient } from '../client.ts';
import { isPaymentId } from '../schemas/id.ts';
import type { Difference } from '../schemas/records/matching.ts';
import type { SqlStoreOptions } from '../sql/store.ts';
import type { Store } from '../store/contract.ts';
import { CommandError, endWith, LOOK } from '../terminal/program.ts';
import { open } from './open.ts';
import { doubtsTable, entryText, reviewsTable } from './print.ts';

interface Place {
  store: Store;
  /** A client that only reads and writes the store, so it needs no keys. */
  reader: GatewayClient;
  despite: Difference[] | undefined;
}

interface Result {
  /** For programs, under `--json`. */
  value: object;
  text: string;
  /** Whether a person must check something. */
  isOpen?: boolean;
}

export type StoreCommand = (place: Place, ...args: string[]) => Promise<Result>;

/** Opens the store of a command line, runs its command, prints the result, and closes the connections. */
export async function runInStore(command: Command, run: StoreCommand): Promise<void> {
  const { json, despite, ...place } = command.opts<SqlStoreOptions & { json?: true; despite?: Difference[] }>();
  const { store, close } = open(place);
  try {
    const { row } = await store.read({ kind: 'gateway', id: '' });
    // A mistyped scope must not look as if nothing were wrong.
    if (!row) throw nothingIn(`No gateway was ever used in scope ${store.scope}.`);
    const { baseUrl } = row.data as { baseUrl: string };
    const reader = new GatewayClient({ baseUrl, apiKey: 'unused', signKey: 'unused', store });
    const { value, text, isOpen } = await run({ store, reader, despite }, ...command.args);
    console.log(json ? JSON.stringify(value, null, 2) : text);
    endWith(isOpen ? LOOK : 0);
  } finally {
    await close();
  }
}

const nothingIn = (message: string) => new CommandError(`${message} Pass your app's --scope and --table-prefix.`, LOOK);

export const listDoubts: StoreCommand = async ({ reader, store }) => {
  const value = await reader.doubts();
  return { value, text: doubtsTable(value, store.scope), isOpen: value.some(({ underWay }) => !underWay) };
};

export const listReviews: StoreCommand = async ({ reader, store }) => {
  const value = await reader.reviews();
  return { value, text: reviewsTable(value, store.scope), isOpen: value.length > 0 };
};

export const show: StoreCommand = async ({ reader, store }, reference = '') => {
  const value = await reader.find(reference);
  if (!value) throw nothingIn(`The store has no reference ${JSON.stringify(reference)} in scope ${store.scope}.`);
  return { value, text: entryText(value) };
};

export const settle: StoreCommand = async (place, reference = '', answer = '') => {
  if (answer !== 'not_created' && !isPaymentId(answer)) {
    throw new CommandError(
      `${JSON.stringify(answer)} is not a payment id: pass the UUID from the gateway's support, or not_created.`,
    );
  }
  await new GatewayClient({ store: place.store }).settle(reference, answer, { despite: place.despite });
  return show(place, reference);
};

export const resolve: StoreCommand = async ({ reader }, id = '', status = '') => {
  await reader.resolveReview(id, status);
  return { value: { id, status }, text: `The review of ${id} with status ${status} is closed.` };
};
