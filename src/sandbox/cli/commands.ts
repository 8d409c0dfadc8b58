// The table of commands that call one route of a running sandbox.
import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import type { Command, Option } from 'commander';
import * as z from 'zod';
import { httpUrl } from '../../schemas/url.ts';
import { CommandError, endWith, FAILED, integer, LOOK } from '../../terminal/program.ts';
import { table } from '../../terminal/text.ts';
import { type Delivery, isTaken } from '../callbacks/delivery.ts';
import { FAULTS } from '../faults/kinds.ts';
import { type MoveName, moveFields } from '../ledger/moves.ts';
import { SCENARIOS } from '../scenarios/library.ts';
import type { Played } from '../scenarios/play.ts';
import type { Report } from '../scenarios/report.ts';
import { callbackLine, faultsText, paymentLine, paymentsText, paymentText, playedText, reportText } from './lines.ts';
import { fieldsOf, optionOf, phrase, type Shape } from './options.ts';
import { call, DEFAULT_PORT, type Fields, type Place, routeOf } from './remote.ts';

interface RemoteCommand {
  /** The command with its argument: an id in the route's path, or a field of the route. */
  usage: string;
  route: string;
  /** A replacement for the route's summary. */
  does?: string;
  /** Text below the options in the help. */
  more?: string;
  /** A replacement for the fields of the route. */
  fields?: Shape;
  prepare?(asked: Asked): Asked | Promise<Asked>;
  text(answer: never): string;
  exitCode?(answer: never): number;
}

interface Asked {
  route: string;
  id: string;
  fields: Fields;
  place: Place;
}

const move = (name: MoveName, does: string): RemoteCommand => ({
  usage: `${name} <payment>`,
  route: 'movePayment',
  does,
  fields: moveFields[name],
  prepare: asked => ({ ...asked, fields: { move: name, ...asked.fields } }),
  text: paymentLine,
});

export const scenarioTable = table(SCENARIOS.map(({ name, does }) => [name, does]));

export const REMOTE_COMMANDS: readonly RemoteCommand[] = [
  {
    usage: 'trigger <scenario>',
    route: 'playScenario',
    does: 'plays a scenario: its name, a file (.yaml, .yml, .json), or - for standard input',
    prepare: async asked => {
      const { id, fields } = asked;
      if (!/^-$|\.(ya?ml|json)$/.test(id)) return asked;
      return { ...asked, route: 'playOwnScenario', fields: { ...fields, scenario: await contentsOf(id) } };
    },
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
    route: 'armFault',
    more: `\nFaults:\n${table(Object.entries(FAULTS))}`,
    text: ({ fault }: { fault: string }) => `armed: ${fault}`,
  },
  {
    usage: 'faults',
    route: 'listFaults',
    does: 'lists the armed faults, or disarms them',
    fields: { disarm: z.string().meta({ title: 'id|all', description: 'disarm this fault, or all' }) },
    prepare: async asked => {
      const { disarm } = asked.fields;
      if (disarm === 'all') await call(asked.place, 'disarmFaults');
      else if (disarm !== undefined) await call(asked.place, 'disarmFault', {}, numberOf('--disarm', String(disarm)));
      return asked;
    },
    text: faultsText,
  },
  {
    usage: 'redeliver <delivery>',
    route: 'redeliver',
    prepare: async ({ id, fields: { body }, ...asked }) => ({
      ...asked,
      id: numberOf('redeliver', id),
      fields: body === undefined ? {} : { body: await contentsOf(String(body)) },
    }),
    text: callbackLine,
    exitCode: (delivery: Delivery) => (isTaken(delivery) ? 0 : LOOK),
  },
  {
    usage: 'clock',
    route: 'moveClock',
    does: 'prints the clock, or moves it; callbacks that waited for that time are posted',
    prepare: asked => (Object.keys(asked.fields).length > 0 ? asked : { ...asked, route: 'getClock' }),
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
  const { usage, route, does, more = '', prepare = (asked: Asked) => asked, text, exitCode } = row;
  const { fields = fieldsOf(routeOf(route)) } = row;
  const command = program
    .command(usage)
    .description(does ?? phrase(routeOf(route).summary))
    .addHelpText('after', more);
  const [argument] = command.registeredArguments;
  const options: Record<string, Option> = {};
  for (const [name, field] of Object.entries(fields)) {
    if (name === argument?.name()) argument.choices((field as z.ZodEnum).options.map(String));
    else options[name] = optionOf(name, field);
  }
  for (const one of Object.values(options)) command.addOption(one);
  place(command).action(async () => {
    const { port, url, json, ...given } = command.opts();
    const [id = ''] = command.args;
    const called = Object.entries(options).map(([name, one]) => [name, given[one.attributeName()]]);
    const asked = await prepare({
      place: { port, url },
      route,
      id,
      fields: {
        ...(argument && argument.name() in fields && { [argument.name()]: id }),
        ...Object.fromEntries(called.filter(([, value]) => value !== undefined)),
      },
    });
    const answer = await call<never>(asked.place, asked.route, asked.fields, asked.id);
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
