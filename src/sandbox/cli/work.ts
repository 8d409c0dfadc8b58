// The commands that ask a running sandbox for something, print the answer, and end.
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { columns, WIDTH } from '../../terminal/columns.ts';
import { printable } from '../../terminal/printable.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import type { Delivery } from '../callbacks/delivery.ts';
import type { SandboxEvent } from '../event-bus.ts';
import type { Armed } from '../faults/faults.ts';
import type { PaymentRecord } from '../ledger/record.ts';
import { doesOf, LIBRARY, textOf } from '../scenarios/library.ts';
import type { Played } from '../scenarios/play.ts';
import { type Command, type CommandName, SCENARIO_FILE } from './commands.ts';
import { callbackLine, faultTable, paymentLine, paymentTable, paymentText } from './lines.ts';
import { logs } from './logs.ts';
import type { Values } from './options.ts';
import { Remote } from './remote.ts';

type Print = (line: string) => void;

/** What a command answers: a value for --json, and how people read it. */
interface Done {
  value: unknown;
  text: string;
  /** Not as expected: exit code 1. */
  isBad?: boolean;
}

interface Asked {
  remote: Remote;
  /** The first argument. */
  name: string;
  values: Values;
}

type Work = (asked: Asked) => Promise<Done>;

/** All but the one that starts a sandbox. */
type Asking = Command & { name: Exclude<CommandName, 'serve'> };

/** The work of those that ask the sandbox for one thing. */
const WORK: Readonly<Record<Exclude<Asking['name'], 'scenarios' | 'logs'>, Work>> = {
  trigger,
  list,
  show,
  complete: ({ remote, name, values }) => move(remote, 'complete', name, values),
  authorize: ({ remote, name, values }) => move(remote, 'authorize', name, values),
  cancel: ({ remote, name, values }) => move(remote, 'cancel', name, values),
  fail: ({ remote, name, values }) => move(remote, 'fail', name, values),
  wait,
  fault,
  faults,
  redeliver,
  clock,
  reset: async ({ remote }) => {
    await remote.ask('POST', '/reset');
    return { value: {}, text: 'reset' };
  },
};

/** @returns the exit code */
export async function work({ name, args, values }: Asking, print: Print): Promise<number> {
  if (name === 'scenarios') {
    print(scenarios(args[0], values.json === true));
    return 0;
  }
  const remote = new Remote(values);
  if (name === 'logs') {
    await logs(remote, values, print);
    return 0;
  }
  const done = await WORK[name]({ remote, name: args[0] ?? '', values });
  print(values.json ? JSON.stringify(done.value, null, 2) : done.text);
  return done.isBad ? 1 : 0;
}

/** They are in the program: no sandbox is asked. */
function scenarios(name: string | undefined, json: boolean): string {
  const all = Object.entries(LIBRARY).map(([name, text]) => ({ name, does: doesOf(text), text }));
  if (name === undefined) {
    return json
      ? JSON.stringify(all, null, 2)
      : columns(
          all.map(({ name, does }) => [name, does]),
          WIDTH,
        );
  }
  const file = textOf(name);
  return json
    ? JSON.stringify(
        all.find(one => one.name === name),
        null,
        2,
      )
    : file.trimEnd();
}

async function trigger({ remote, name, values: { to } }: Asked): Promise<Done> {
  const own = SCENARIO_FILE.test(name) && { scenario: await contentsOf(name) };
  const body = { ...own, to };
  const played = await remote.ask<Played>('POST', own ? '/scenarios' : `/scenarios/${name}`, { body });
  const { payment, deliveries, problems, note } = played;
  const lines = [
    paymentLine(payment),
    ...(note === undefined ? deliveries.map(callbackLine) : []),
    ...problems.map(problem => `Not as expected: ${printable(problem)}`),
    ...(note === undefined ? [] : [note]),
  ];
  return { value: played, text: lines.join('\n'), isBad: problems.length > 0 };
}

async function list({ remote, values }: Asked): Promise<Done> {
  const { status: paymentStatus, reference, search, limit } = values;
  const query = { paymentStatus, reference, search, limit };
  const found = await remote.ask<{ payments: PaymentRecord[]; total: number }>('GET', '/payments', { query });
  const { payments, total } = found;
  if (total === 0) return { value: found, text: 'No such payment.' };
  const more = total > payments.length ? `\n${total} in all: --limit shows more.` : '';
  return { value: found, text: paymentTable(payments) + more };
}

interface Detail {
  payment: PaymentRecord;
  callbackUrl: string;
  timeline: SandboxEvent[];
}

async function show({ remote, name }: Asked): Promise<Done> {
  const { id } = await remote.find(name);
  const detail = await remote.ask<Detail>('GET', `/payments/${id}`);
  return { value: detail, text: paymentText(detail.payment, detail.callbackUrl, detail.timeline) };
}

async function move(remote: Remote, move: string, name: string, values: Values): Promise<Done> {
  const { code, reason, force } = values;
  const { id } = await remote.find(name);
  const body = { move, code, reason, force };
  return told(await remote.ask('POST', `/payments/${id}/moves`, { body }));
}

const told = (payment: PaymentRecord): Done => ({ value: payment, text: paymentLine(payment) });

async function wait({ remote, values }: Asked): Promise<Done> {
  const { id: paymentId, reference, status: paymentStatus, answered, timeout } = values;
  if (paymentId === undefined && reference === undefined) {
    throw new UsageError('Which payment? Pass --reference or --id.');
  }
  const query = { paymentId, reference, paymentStatus, isAnswered: answered, timeout };
  return told(await remote.ask('GET', '/wait', { query }));
}

async function fault({ remote, name, values }: Asked): Promise<Done> {
  const { on, ms, count, probability, reference } = values;
  const body = { fault: name, on, ms, count, probability, reference };
  const armed = await remote.ask<Armed>('POST', '/faults', { body });
  return { value: armed, text: `armed: ${armed.fault}` };
}

async function faults({ remote, values: { disarm } }: Asked): Promise<Done> {
  if (disarm !== undefined)
    await remote.ask('DELETE', disarm === 'all' ? '/faults' : `/faults/${numberOf('--disarm', disarm)}`);
  const { faults } = await remote.ask<{ faults: Armed[] }>('GET', '/faults');
  return { value: faults, text: faults.length === 0 ? 'No fault is armed.' : faultTable(faults) };
}

async function redeliver({ remote, name, values }: Asked): Promise<Done> {
  const body = values.body === undefined ? {} : { body: await contentsOf(values.body) };
  const path = `/deliveries/${numberOf('redeliver', name)}/redeliver`;
  const delivery = await remote.ask<Delivery>('POST', path, { body });
  const { status = 0 } = delivery;
  return { value: delivery, text: callbackLine(delivery), isBad: status < 200 || status >= 300 };
}

async function clock({ remote, values: { advance, at } }: Asked): Promise<Done> {
  if (advance !== undefined && at !== undefined)
    throw new UsageError('--advance and --at both move the clock: pass one.');
  const body = advance === undefined ? at !== undefined && { at } : { advance };
  const now = await remote.ask<{ iso: string; offset: number }>(body ? 'PUT' : 'GET', '/clock', body ? { body } : {});
  return { value: now, text: `${now.iso}  moved by ${now.offset} ms` };
}

function numberOf(what: string, written: string): number {
  if (/^\d+$/.test(written)) return Number(written);
  throw new UsageError(`${what} takes a number, and not ${JSON.stringify(written)}.`);
}

async function contentsOf(file: string): Promise<string> {
  if (file === '-') return text(process.stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
}
