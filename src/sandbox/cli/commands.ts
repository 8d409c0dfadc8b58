// The table of commands that call one route of a running sandbox.
import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import type { Command } from 'commander';
import * as z from 'zod';
import { httpUrl } from '../../schemas/url.ts';
import { CommandError, endWith, FAILED, integer, LOOK } from '../../terminal/program.ts';
import { table } from '../../terminal/text.ts';
import { type Delivery, isTaken } from '../callbacks/delivery.ts';
import { faultFields } from '../faults/faults.ts';
import { FAULTS } from '../faults/kinds.ts';
import { type MoveName, moveFields } from '../ledger/moves.ts';
import { SCENARIOS } from '../scenarios/library.ts';
import type { Played } from '../scenarios/play.ts';
import type { Report } from '../scenarios/report.ts';
import { callbackLine, faultsText, paymentLine, paymentsText, paymentText, playedText, reportText } from './lines.ts';
import { fieldsOf, optionOf, phrase, type Shape } from './options.ts';
import { call, DEFAULT_PORT, type Fields, type Place, routeOf } from './remote.ts';

interface RemoteCommand {
  /** The command with its argument. */
  usage: string;
  choices?: readonly string[];
  route: string;
  /** A replacement for the route's summary. */
  does?: string;
  /** Text below the options in the help. */
  more?: string;
  /** A replacement for the fields of the route. */
  fields?: Shape;
  /** Replaces the call of the route. @param id the argument */
  ask?(place: Place, id: string, fields: Fields): Promise<unknown>;
  text(answer: never): string;
  exitCode?(answer: never): number;
}

const move = (name: MoveName, does: string): RemoteCommand => ({
  usage: `${name} <payment>`,
  route: 'movePayment',
  does,
  fields: moveFields[name],
  ask: (place, id, fields) => call(place, 'movePayment', { move: name, ...fields }, id),
  text: paymentLine,
});

export const scenarioTable = table(SCENARIOS.map(({ name, does }) => [name, does]));

export const REMOTE_COMMANDS: readonly RemoteCommand[] = [
  {
    usage: 'trigger <scenario>',
    route: 'playScenario',
    does: 'plays a scenario: its name, a file (.yaml, .yml, .json), or - for standard input',
    ask: async (place, id, fields) =>
      /^-$|\.(ya?ml|json)$/.test(id)
        ? call(place, 'playOwnScenario', { ...fields, scenario: await contentsOf(id) })
        : call(place, 'playScenario', fields, id),
    more: `\nScenarios:\n${scenarioTable}`,
    text: playedText,
    exitCode: ({ problems, note, deliveries }: Played) => {
      // Without a server, a scenario of faults has tested nothing.
      if (note && deliveries.some(({ fault, repeats }) => fault ?? repeats)) return FAILED;
      return problems.length > 0 ? LOOK : 0;
    },
  },
  {
    usage: 'test',
    route: 'testServer',
    does: 'plays every scenario at your server, and prints a report card',
    text: reportText,
    exitCode: ({ result }: Report) => ({ passed: 0, failed: LOOK, unchecked: FAILED })[result],
  },
  { usage: 'list', route: 'listPayments', text: paymentsText },
  { usage: 'show <payment>', route: 'getPayment', text: paymentText },
  move('complete', 'completes a payment: the customer has paid'),
  move('authorize', 'authorises a payment, without capture'),
  move('cancel', 'cancels a payment'),
  move('fail', 'fails a payment'),
  { usage: 'wait', route: 'waitForPayment', text: paymentLine },
  {
    usage: 'fault <fault>',
    choices: Object.keys(FAULTS),
    route: 'armFault',
    fields: faultFields,
    ask: (place, fault, fields) => call(place, 'armFault', { fault, ...fields }),
    more: `\nFaults:\n${table(Object.entries(FAULTS))}`,
    text: ({ fault }: { fault: string }) => `armed: ${fault}`,
  },
  {
    usage: 'faults',
    route: 'listFaults',
    does: 'lists the armed faults, or disarms them',
    fields: { disarm: z.string().meta({ title: 'id|all', description: 'disarm this fault, or all' }) },
    ask: async (place, _, { disarm }) => {
      if (disarm === 'all') await call(place, 'disarmFaults');
      else if (disarm !== undefined) await call(place, 'disarmFault', {}, numberOf('--disarm', String(disarm)));
      return call(place, 'listFaults');
    },
    text: faultsText,
  },
  {
    usage: 'redeliver <delivery>',
    route: 'redeliver',
    ask: async (place, id, { body: file }) => {
      const delivery = numberOf('redeliver', id);
      const body = file === undefined ? undefined : await contentsOf(String(file));
      return call(place, 'redeliver', { body }, delivery);
    },
    text: callbackLine,
    exitCode: (delivery: Delivery) => (isTaken(delivery) ? 0 : LOOK),
  },
  {
    usage: 'clock',
    route: 'moveClock',
    does: 'prints the clock, or moves it; callbacks that waited for that time are posted',
    ask: (place, _, { advance, at }) => call(place, (advance ?? at) ? 'moveClock' : 'getClock', { advance, at }),
    text: ({ iso, offset }: { iso: string; offset: number }) => `${iso}  moved by ${offset} ms`,
  },
  { usage: 'reset', route: 'reset', text: () => 'reset' },
];

/** Adds the options that locate the sandbox. */
export const place = (command: Command): Command =>
  command
    .option('--port <number>', `port of the sandbox on this machine (default: ${DEFAULT_PORT})`, integer(0, 65_535))
    .addOption(optionOf('url', httpUrl.describe('Address of a sandbox elsewhere.')).conflicts('port'))
    .option('--json', 'print JSON');

export function addRemoteCommand(program: Command, row: RemoteCommand): void {
  const { usage, choices, route, does, more = '', fields = fieldsOf(routeOf(route)), text, exitCode } = row;
  const { ask = (place, id, fields) => call(place, route, fields, id) } = row;
  const command = program
    .command(usage)
    .description(does ?? phrase(routeOf(route).summary))
    .addHelpText('after', more);
  if (choices) command.registeredArguments[0]?.choices(choices);
  const options = Object.entries(fields).map(([name, field]) => [name, optionOf(name, field)] as const);
  for (const [, option] of options) command.addOption(option);
  place(command).action(async () => {
    const { port, url, json, ...given } = command.opts();
    const asked = Object.fromEntries(options.map(([name, option]) => [name, given[option.attributeName()]]));
    const answer = (await ask({ port, url }, command.args[0] ?? '', asked)) as never;
    console.log(json ? JSON.stringify(answer ?? {}, null, 2) : text(answer));
    endWith(exitCode?.(answer) ?? 0);
  });
}

function numberOf(what: string, written: string): string {
  if (/^\d+$/.test(written)) return written;
  throw new CommandError(`${what} takes a number, and not ${JSON.stringify(written)}.`);
}

async function contentsOf(file: string): Promise<string> {
  if (file === '-') return textOf(process.stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${(error as Error).message}`);
  }
}
