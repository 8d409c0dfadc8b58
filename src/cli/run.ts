// Runs one command line of an operator to its end, and answers the exit code.
import { createRequire } from 'node:module';
import { ConfigurationError, GatewayError } from '../errors.ts';
import { UsageError } from '../terminal/arguments.ts';
import { printable } from '../terminal/printable.ts';
import { type JournalCommand, readCommand } from './arguments.ts';
import { HELP } from './help.ts';
import { type Opened, open } from './open.ts';
import { doubtsTable, entryText } from './print.ts';

/** No: something is in doubt, not known, or refused. */
const NO = 1;
const FAILED = 2;

const print = (text: string) => console.log(text);
const complain = (text: string) => console.error(`payment-gateway-sdk: ${printable(text)}`);

export async function run(args: string[]): Promise<number> {
  try {
    const command = readCommand(args);
    if (command.name === 'help') {
      print(HELP);
    } else if (command.name === 'version') {
      print(createRequire(import.meta.url)('payment-gateway-sdk/package.json').version);
    } else {
      return await runOn(command);
    }
    return 0;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    complain(error instanceof UsageError ? error.message : adviceFor(error));
    return isNo(error) ? NO : FAILED;
  }
}

async function runOn(command: JournalCommand): Promise<number> {
  const opened = open(command.place, process.env);
  try {
    if (command.name === 'doubts') return await listDoubts(opened, command.json);
    const { gateway } = opened;
    const { reference, json } = command;
    if (command.name === 'settle') {
      await gateway.settle(reference, command.resolution, { despite: command.despite });
    }
    const entry = await gateway.find(reference);
    if (json) print(JSON.stringify(entry ?? null, null, 2));
    else if (entry) print(entryText(entry));
    else complain(`The journal knows no reference ${JSON.stringify(reference)} in this scope.`);
    return entry ? 0 : NO;
  } finally {
    await opened.close();
  }
}

async function listDoubts({ gateway, journal }: Opened, json: boolean): Promise<number> {
  const doubts = await gateway.inDoubt();
  print(json ? JSON.stringify(doubts, null, 2) : doubtsTable(doubts));
  const { rows } = await journal.list({ states: ['begun'] });
  const scopes = new Set(rows.map(({ scope }) => scope).filter(scope => scope !== doubts[0]?.scope));
  // The scope may be mistyped, and nobody would notice.
  if (doubts.length < rows.length) complain(`Other scopes have doubts: ${[...scopes].join(', ')}. See --scope.`);
  return doubts.some(({ underWay }) => !underWay) ? NO : 0;
}

/** Whether the operator was understood, and must not do this. */
const isNo = (error: Error): boolean =>
  ['InvalidRequestError', 'PaymentInDoubtError', 'PaymentNotFoundError'].includes(error.name);

function adviceFor(error: Error): string {
  if (error instanceof ConfigurationError || !(error instanceof GatewayError)) return `${error.message}`;
  // The same in the words of the command line.
  return error.message.replace(
    /\{ despite: \[(.*)\] \}/,
    (_, names: string) => `--despite ${names.replace(/[' ]/g, '')}`,
  );
}
