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

interface Options {
  json?: true;
  despite?: Difference[];
}

const print = (value: object, text: string, { json }: Options) =>
  console.log(json ? JSON.stringify(value, null, 2) : text);

interface Place {
  store: Store;
  /** A client that only reads and writes the store, so it needs no keys. */
  reader: GatewayClient;
}

/** A command over the merchant's store. @returns its exit code */
export type StoreCommand = (place: Place, options: Options, ...args: string[]) => Promise<number>;

/** Opens the store of a command line, runs its command, and closes the connections. */
export async function runInStore(command: Command, run: StoreCommand): Promise<void> {
  const options = command.opts<SqlStoreOptions & Options>();
  const { store, close } = open(options);
  try {
    const { row } = await store.read({ kind: 'gateway', id: '' });
    // A mistyped scope must not look as if nothing were wrong.
    if (!row) throw nothingIn(`No gateway was ever used in scope ${store.scope}.`);
    const { baseUrl } = row.data as { baseUrl: string };
    const reader = new GatewayClient({ baseUrl, apiKey: 'unused', signKey: 'unused', store });
    endWith(await run({ store, reader }, options, ...command.args));
  } finally {
    await close();
  }
}

const nothingIn = (message: string) => new CommandError(`${message} Pass your app's --scope and --table-prefix.`, LOOK);

export async function listDoubts({ reader, store }: Place, options: Options): Promise<number> {
  const doubts = await reader.doubts();
  print(doubts, doubtsTable(doubts, store.scope), options);
  return doubts.some(({ underWay }) => !underWay) ? LOOK : 0;
}

export async function listReviews({ reader, store }: Place, options: Options): Promise<number> {
  const reviews = await reader.reviews();
  print(reviews, reviewsTable(reviews, store.scope), options);
  return reviews.length > 0 ? LOOK : 0;
}

export async function show({ reader, store }: Place, options: Options, reference = ''): Promise<number> {
  const entry = await reader.find(reference);
  if (!entry) throw nothingIn(`The store has no reference ${JSON.stringify(reference)} in scope ${store.scope}.`);
  print(entry, entryText(entry), options);
  return 0;
}

export async function settle(place: Place, options: Options, reference = '', answer = ''): Promise<number> {
  if (answer !== 'not_created' && !isPaymentId(answer)) {
    throw new CommandError(
      `${JSON.stringify(answer)} is not a payment id: pass the UUID from the gateway's support, or not_created.`,
    );
  }
  await new GatewayClient({ store: place.store }).settle(reference, answer, { despite: options.despite });
  return show(place, options, reference);
}

export async function resolve({ reader }: Place, options: Options, id = '', status = ''): Promise<number> {
  await reader.resolveReview(id, status);
  print({ id, status }, `The review of ${id} with status ${status} is closed.`, options);
  return 0;
}
