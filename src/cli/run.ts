// Runs one command line to its end, and answers the exit code.
import { type Issue, isGatewayError } from '../errors.ts';
import type { Doubt, JournalEntry } from '../journal/contract.ts';
import { doubtsIn, findReference, findUnpaid } from '../journal/find.ts';
import { WAS_IT_MIGRATED } from '../sql/table.ts';
import { readCommandLine } from '../terminal/command-line.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { type Command, SDK, type Values } from './commands.ts';
import { type Opened, open } from './open.ts';
import { complain, doubtsTable, entryText, STATES, settledText } from './print.ts';
import { work } from './work.ts';

/** No: something is in doubt, not known, or refused. */
const NO = 1;
const FAILED = 2;

const print = (text: string) => console.log(text);

/** There is no such reference in the scope. */
class NotFound extends Error {}

export async function run(args: string[]): Promise<number> {
  try {
    const command = readCommandLine(SDK, args);
    if (!('prints' in command)) return await runCommand(command);
    print(command.prints);
    return 0;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    complain(adviceFor(error));
    return isNo(error) ? NO : FAILED;
  }
}

async function runCommand({ name, args, values }: Command): Promise<number> {
  if (name === 'drain' || name === 'sweep') return work({ name, args, values });
  const opened = open(values, process.env);
  try {
    return await (name === 'doubts' ? listDoubts(opened, values) : tellOf(opened, { name, args, values }));
  } finally {
    await opened.close();
  }
}

/** Of every scope unless one was named: a scope that is mistyped, or forgotten, must not look like peace. */
async function listDoubts({ journal, scope }: Opened, { json }: Values): Promise<number> {
  const all = await doubtsIn(journal, undefined);
  const isWanted = (doubt: Doubt) => scope === undefined || doubt.scope === scope;
  const doubts = all.filter(isWanted);
  print(json ? JSON.stringify(doubts, null, 2) : doubtsTable(doubts, scope));
  const others = new Set(all.filter(doubt => !isWanted(doubt)).map(doubt => doubt.scope));
  if (others.size > 0) complain(`Other scopes have creates in doubt: ${[...others].join(', ')}.`);
  return doubts.some(({ underWay }) => !underWay) ? NO : 0;
}

async function tellOf(opened: Opened, { name, args, values }: Command): Promise<number> {
  const [reference, resolution] = args as [string, string];
  const { json, despite = [] } = values;
  let entry = await find(opened, reference);
  if (name === 'settle') {
    const { state: before } = entry;
    await opened.gateway.settle(reference, resolution, { despite: despite.flat() });
    entry = await find(opened, reference);
    if (!json) print(settledText(entry, before));
  }
  print(json ? JSON.stringify(entry, null, 2) : entryText(entry));
  return 0;
}

/** @throws {NotFound} naming a scope that has it */
async function find(opened: Opened, reference: string): Promise<JournalEntry> {
  const { journal, scope } = opened;
  const found = scope ? await findReference({ journal, scope }, reference) : undefined;
  const entry = scope ? found?.entry : await opened.gateway.find(reference);
  if (entry) return entry;
  const known = JSON.stringify(reference);
  const elsewhere = await findUnpaid(journal, reference);
  const [hint] = elsewhere.map(({ scope, state }) => `Scope ${scope} has it, ${STATES[state]}: add --scope ${scope}`);
  const place = scope ? `scope ${scope}` : 'the default scope, a hash of PAYMENT_GATEWAY_URL';
  throw new NotFound(`The journal has no reference ${known} in ${place}. ${hint ?? 'Is --scope that of the app?'}`);
}

/** Whether the operator was understood, and the answer is no. */
const isNo = (error: Error): boolean =>
  error instanceof NotFound ||
  ['InvalidRequestError', 'PaymentInDoubtError', 'PaymentNotFoundError'].includes(error.name);

function adviceFor(error: Error): string {
  if (isGatewayError(error)) {
    return withOptions(error.name === 'InvalidRequestError' ? refusalOf(error.issues) : error.message);
  }
  if (error instanceof UsageError || error instanceof NotFound) return error.message;
  const [words = '', isMissing] = error.message.split(WAS_IT_MIGRATED);
  const hint =
    isMissing === undefined
      ? 'Is it that of the app?'
      : "Name the app's table with --table, or run the app's journal.migrate().";
  return `The database of DATABASE_URL failed: ${words.replace(/\.$/, '')}. ${hint}`;
}

/** What the fields of a settlement are here. */
const CALLED: Readonly<Record<string, string>> = { reference: 'the reference', paymentId: 'the payment' };

const refusalOf = (issues: readonly Issue[]): string =>
  `Refused: ${issues.map(({ path, message }) => `${CALLED[path] ?? path} ${message}`).join('; ')}.`;

/** As they are typed. */
const withOptions = (message: string): string =>
  message.replace(/\{ despite: \[(.*)\] \}/, (_, names: string) => `--despite ${names.replace(/[' ]/g, '')}`);
