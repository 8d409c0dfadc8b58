// The operator's commands: list and settle doubts, list and close reviews, show a reference.
import type { Command } from 'commander';
import { GatewayClient } from '../client.ts';
import type { Entry } from '../payments/store-calls.ts';
import { isPaymentId } from '../schemas/id.ts';
import type { Difference } from '../schemas/matching.ts';
import type { SqlStoreOptions } from '../sql/store.ts';
import type { Store } from '../store/contract.ts';
import { CommandError, complain, endWith, LOOK } from '../terminal/program.ts';
import { type Opened, open } from './open.ts';
import { doubtsTable, entryText, NAME, reviewsTable } from './print.ts';

interface Options {
  json?: true;
  despite?: Difference[];
}

const print = (value: object, text: string, { json }: Options) =>
  console.log(json ? JSON.stringify(value, null, 2) : text);

/** A command over the merchant's store. @returns its exit code */
export type StoreCommand = (opened: Opened, options: Options, ...args: string[]) => Promise<number>;

/** Opens the store of a command line, runs its command, and closes the connections. */
export async function runInStore(command: Command, run: StoreCommand): Promise<void> {
  const options = command.opts<SqlStoreOptions & Options>();
  const opened = open(options);
  try {
    endWith(await run(opened, options, ...command.args));
  } finally {
    await opened.close();
  }
}

export async function listDoubts({ reader, store }: Opened, options: Options): Promise<number> {
  const doubts = await reader.doubts();
  print(doubts, doubtsTable(doubts, store.scope), options);
  if (doubts.length === 0) return warnIfUnused(store);
  return doubts.some(({ underWay }) => !underWay) ? LOOK : 0;
}

export async function listReviews({ reader, store }: Opened, options: Options): Promise<number> {
  const reviews = await reader.reviews();
  print(reviews, reviewsTable(reviews, store.scope), options);
  return reviews.length > 0 ? LOOK : warnIfUnused(store);
}

export async function show({ reader, store }: Opened, options: Options, reference = ''): Promise<number> {
  const entry = await find(reader, store, reference);
  print(entry, entryText(entry), options);
  return 0;
}

export async function settle(opened: Opened, options: Options, reference = '', answer = ''): Promise<number> {
  if (answer !== 'not_created' && !isPaymentId(answer)) {
    throw new CommandError(
      `${JSON.stringify(answer)} is not a payment id: pass the UUID from the gateway's support, or not_created.`,
    );
  }
  // A client for the real gateway claims the scope, so a mistyped scope must fail before.
  await find(opened.reader, opened.store, reference);
  await new GatewayClient({ store: opened.store }).settle(reference, answer, { despite: options.despite });
  return show(opened, options, reference);
}

export async function resolve({ reader }: Opened, options: Options, id = '', status = ''): Promise<number> {
  await reader.resolveReview(id, status);
  print({ id, status }, `The review of ${id} with status ${status} is closed.`, options);
  return 0;
}

/** @throws {CommandError} for an unknown reference */
async function find(reader: GatewayClient, store: Store, reference: string): Promise<Entry> {
  const entry = await reader.find(reference);
  if (entry) return entry;
  const message = `The store has no reference ${JSON.stringify(reference)} in scope ${store.scope}.`;
  throw new CommandError(`${message} Pass your app's --scope and --table-prefix.`, LOOK);
}

/** A mistyped scope must not look as if nothing were wrong. @returns the exit code */
async function warnIfUnused(store: Store): Promise<number> {
  // Gateways on loopback have no row.
  const { row } = await store.read({ kind: 'gateway', id: '' });
  const { rows } = await store.list({ kind: 'create', states: ['planned', 'begun', 'created', 'freed'] });
  if (row || rows.length > 0) return 0;
  complain(NAME, `Nothing was ever stored in scope ${store.scope}. Pass your app's --scope and --table-prefix.`);
  return LOOK;
}
