// The commands that read the journal, and the one that settles a create in doubt.
import type { Doubt, JournalEntry } from '../journal/contract.ts';
import { doubtsIn, findReference, findUnpaid } from '../journal/find.ts';
import { isPaymentId } from '../schemas/id.ts';
import type { Difference } from '../schemas/matching.ts';
import { CommandError, complain, LOOK } from '../terminal/program.ts';
import { type Opened, open, type Place } from './open.ts';
import { doubtsTable, entryText, NAME, STATES } from './print.ts';

interface Options {
  json?: true;
  despite?: Difference[];
}

const print = (value: object, text: string, { json }: Options) =>
  console.log(json ? JSON.stringify(value, null, 2) : text);

/** Runs a command on the merchant's journal, and then closes its connections. */
export async function inJournal<T>(place: Place, command: (opened: Opened) => Promise<T>): Promise<T> {
  const opened = open(place);
  try {
    return await command(opened);
  } finally {
    await opened.close();
  }
}

/** Reads every scope, because a mistyped scope must not look like "no doubts". */
export async function listDoubts({ journal, scope }: Opened, options: Options): Promise<number> {
  const all = await doubtsIn(journal, undefined);
  const isWanted = (doubt: Doubt) => scope === undefined || doubt.scope === scope;
  const doubts = all.filter(isWanted);
  print(doubts, doubtsTable(doubts, scope), options);
  const others = new Set(all.filter(doubt => !isWanted(doubt)).map(doubt => doubt.scope));
  if (others.size > 0) complain(NAME, `Other scopes have creates in doubt: ${[...others].join(', ')}.`);
  return doubts.some(({ underWay }) => !underWay) ? LOOK : 0;
}

export async function show(opened: Opened, reference: string, options: Options): Promise<void> {
  const entry = await find(opened, reference);
  print(entry, entryText(entry), options);
}

export async function settle(opened: Opened, reference: string, answer: string, options: Options): Promise<void> {
  if (answer !== 'not_created' && !isPaymentId(answer)) {
    throw new CommandError(`${JSON.stringify(answer)} is not a payment id: pass the support's UUID, or not_created.`);
  }
  // A reference of another scope gets a hint.
  await find(opened, reference);
  await opened.gateway.settle(reference, answer, { despite: options.despite });
  await show(opened, reference, options);
}

/** @throws {CommandError} that names a scope with this reference */
async function find(opened: Opened, reference: string): Promise<JournalEntry> {
  const { journal, scope } = opened;
  const found = scope && (await findReference({ journal, scope }, reference))?.entry;
  const entry = scope ? found : await opened.gateway.find(reference);
  if (entry) return entry;
  const [other] = await findUnpaid(journal, reference);
  const hint = other && `Scope ${other.scope} has it, ${STATES[other.state]}: add --scope ${other.scope}`;
  const where = scope ? `scope ${scope}` : 'the default scope, a hash of PAYMENT_GATEWAY_URL';
  const message = `The journal has no reference ${JSON.stringify(reference)} in ${where}.`;
  throw new CommandError(`${message} ${hint ?? "Pass your app's --scope."}`, LOOK);
}
