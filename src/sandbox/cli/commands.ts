// The commands that call one route of a running sandbox.
import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import type { Command } from 'commander';
import * as z from 'zod';
import { httpUrl } from '../../schemas/url.ts';
import { CommandError, endWith, FAILED, integer, LOOK } from '../../terminal/program.ts';
import { table } from '../../terminal/text.ts';
import { isTaken } from '../callbacks/delivery.ts';
import { faultFields } from '../faults/faults.ts';
import { FAULTS } from '../faults/kinds.ts';
import { type MoveName, moveFields } from '../ledger/moves.ts';
import { SCENARIOS } from '../scenarios/library.ts';
import { callbackLine, faultsText, paymentLine, paymentsText, paymentText, playedText, reportText } from './lines.ts';
import { optionOf, phrase } from './options.ts';
import { call, DEFAULT_PORT, type Fields, type Place, routeOf } from './remote.ts';

interface Details<T> {
  choices?: readonly string[];
  /** Replaces the route's summary. */
  does?: string;
  /** Text below the options in the help. */
  more?: string;
  /** Replaces the fields of the route. */
  fields?: z.ZodRawShape;
  /** Replaces the call of the route. @param id the argument */
  ask?(place: Place, id: string, fields: Fields): Promise<T>;
  exitCode?(answer: T): number;
}

/** @param usage the command with its argument. @returns a function that adds it */
const remote =
  <T>(usage: string, name: string, text: (answer: T) => string, details: Details<T> = {}) =>
  (program: Command) => {
    const route = routeOf(name);
    const { shape = {} } = route.fields instanceof z.ZodObject ? route.fields : {};
    const { choices, does = phrase(route.summary), more = '', fields = shape, exitCode } = details;
    const { ask = (place, id, fields) => call<T>(place, name, fields, id) } = details;
    const command = program.command(usage).description(does).addHelpText('after', more);
    if (choices) command.registeredArguments[0]?.choices(choices);
    const options = Object.entries(fields).map(([name, field]) => [name, optionOf(name, field)] as const);
    for (const [, option] of options) command.addOption(option);
    place(command).action(async () => {
      const { port, url, json, ...given } = command.opts();
      const asked = Object.fromEntries(options.map(([name, option]) => [name, given[option.attributeName()]]));
      const answer = await ask({ port, url }, command.args[0] ?? '', asked);
      console.log(json ? JSON.stringify(answer ?? {}, null, 2) : text(answer));
      endWith(exitCode?.(answer) ?? 0);
    });
  };

const move = (name: MoveName, does: string) =>
  remote(`${name} <payment>`, 'movePayment', paymentLine, {
    does,
    fields: moveFields[name],
    ask: (place, id, fields) => call(place, 'movePayment', { move: name, ...fields }, id),
  });

export const scenarioTable = table(SCENARIOS.map(({ name, does }) => [name, does]));

export const REMOTE_COMMANDS = [
  remote('trigger <scenario>', 'playScenario', playedText, {
    does: 'plays a scenario: its name, a file (.yaml, .yml, .json), or - for standard input',
    more: `\nScenarios:\n${scenarioTable}`,
    ask: async (place, id, fields) =>
      /^-$|\.(ya?ml|json)$/.test(id)
        ? call(place, 'playOwnScenario', { ...fields, scenario: await contentsOf(id) })
        : call(place, 'playScenario', fields, id),
    exitCode: ({ problems, note, deliveries }) => {
      // Without a server, a scenario of faults has tested nothing.
      if (note && deliveries.some(({ fault, repeats }) => fault ?? repeats)) return FAILED;
      return problems.length > 0 ? LOOK : 0;
    },
  }),
  remote('test', 'testServer', reportText, {
    does: 'plays every scenario at your server, and prints a report card',
    exitCode: ({ result }) => ({ passed: 0, failed: LOOK, unchecked: FAILED })[result],
  }),
  remote('list', 'listPayments', paymentsText),
  remote('show <payment>', 'getPayment', paymentText),
  move('complete', 'completes a payment: the customer has paid'),
  move('authorize', 'authorises a payment, without capture'),
  move('cancel', 'cancels a payment'),
  move('fail', 'fails a payment'),
  remote('wait', 'waitForPayment', paymentLine),
  remote('fault <fault>', 'armFault', ({ fault }: { fault: string }) => `armed: ${fault}`, {
    choices: Object.keys(FAULTS),
    more: `\nFaults:\n${table(Object.entries(FAULTS))}`,
    fields: faultFields,
    ask: (place, fault, fields) => call(place, 'armFault', { fault, ...fields }),
  }),
  remote('faults', 'listFaults', faultsText, {
    does: 'lists the armed faults, or disarms them',
    fields: { disarm: z.string().meta({ title: 'id|all', description: 'disarm this fault, or all' }) },
    ask: async (place, _, { disarm }) => {
      if (disarm === 'all') await call(place, 'disarmFaults');
      else if (disarm !== undefined) await call(place, 'disarmFault', {}, numberOf('--disarm', String(disarm)));
      return call(place, 'listFaults');
    },
  }),
  remote('redeliver <delivery>', 'redeliver', callbackLine, {
    ask: async (place, id, { body: file }) => {
      const delivery = numberOf('redeliver', id);
      const body = file === undefined ? undefined : await contentsOf(String(file));
      return call(place, 'redeliver', { body }, delivery);
    },
    exitCode: delivery => (isTaken(delivery) ? 0 : LOOK),
  }),
  remote('clock', 'moveClock', ({ iso, offset }: { iso: string; offset: number }) => `${iso}  moved by ${offset} ms`, {
    does: 'prints the clock, or moves it; callbacks that waited for that time are posted',
    ask: (place, _, { advance, at }) => call(place, (advance ?? at) ? 'moveClock' : 'getClock', { advance, at }),
  }),
  remote('reset', 'reset', () => 'reset'),
];

/** Adds the options that locate the sandbox. */
export const place = (command: Command) =>
  command
    .option('--port <number>', `port of the sandbox on this machine (default: ${DEFAULT_PORT})`, integer(0, 65_535))
    .addOption(optionOf('url', httpUrl.describe('Address of a sandbox elsewhere.')).conflicts('port'))
    .option('--json', 'print JSON');

function numberOf(what: string, written: string) {
  if (/^\d+$/.test(written)) return written;
  throw new CommandError(`${what} takes a number, and not ${JSON.stringify(written)}.`);
}

const contentsOf = (file: string) =>
  file === '-'
    ? textOf(process.stdin)
    : readFile(file, 'utf8').catch(({ message }: Error) => {
        throw new CommandError(`${file} cannot be read: ${message}`);
      });
