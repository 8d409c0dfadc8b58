// Reads the command line: which command, with which options. A mistake is reported in one line.
import { LONGEST_TIMER } from '../../schemas/store-options.ts';
import { isHttpUrl } from '../../schemas/url.ts';
import { parse, UsageError, unknown } from '../../terminal/arguments.ts';
import { FAULTS, type Fault, type Operation } from '../faults/kinds.ts';
import { isScenario, SCENARIOS, type ScenarioName } from '../scenarios.ts';

/** A move that the sandbox makes by itself, so long after a payment was created. */
export interface Auto {
  move: 'complete' | 'authorize' | 'cancel' | 'fail';
  ms: number;
}

export interface ServeOptions {
  port: number;
  apiKey: string | undefined;
  signKey: string | undefined;
  signatureEncoding: 'hex' | 'base64' | undefined;
  terminal: 'standard' | 'onramp' | undefined;
  payid: 'host-to-host' | 'redirect' | undefined;
  shape: 'wrapped' | 'unwrapped' | undefined;
  shopName: string | undefined;
  forwardTo: string | undefined;
  callbackQuery: 'keep' | 'drop' | undefined;
  auto: Auto[];
}

export type Command =
  | { name: 'help' | 'version' }
  | { name: 'serve'; options: ServeOptions }
  | { name: 'trigger'; port: number; scenario: ScenarioName; to: string | undefined }
  | { name: 'fault'; port: number; fault: Fault; on: Operation; ms: number | undefined };

export const DEFAULT_PORT = 4010;

const COMMANDS: readonly string[] = ['trigger', 'fault', 'help'];

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const COMMON = { port: text, help: { ...flag, short: 'h' } } as const;
const SERVE = {
  ...COMMON,
  version: flag,
  'api-key': text,
  'sign-key': text,
  'signature-encoding': text,
  terminal: text,
  payid: text,
  shape: text,
  'shop-name': text,
  'forward-to': text,
  'callback-query': text,
  auto: { ...text, multiple: true },
} as const;
const TRIGGER = { ...COMMON, to: text } as const;
const FAULT = { ...COMMON, on: text, ms: text } as const;

/** @throws {UsageError} */
export function readCommand(args: string[]): Command {
  const at = args.findIndex(arg => COMMANDS.includes(arg));
  const rest = args.toSpliced(at, at < 0 ? 0 : 1);
  if (args[at] === 'trigger') return readTrigger(rest);
  if (args[at] === 'fault') return readFault(rest);
  if (args[at] === 'help') return { name: 'help' };
  const { values } = parse(args, SERVE, [], COMMANDS);
  if (values.help) return { name: 'help' };
  if (values.version) return { name: 'version' };
  const options: ServeOptions = {
    port: portOf(values.port),
    apiKey: notEmpty('--api-key', values['api-key']),
    signKey: notEmpty('--sign-key', values['sign-key']),
    signatureEncoding: oneOf('--signature-encoding', values['signature-encoding'], ['hex', 'base64']),
    terminal: oneOf('--terminal', values.terminal, ['standard', 'onramp']),
    payid: oneOf('--payid', values.payid, ['host-to-host', 'redirect']),
    shape: oneOf('--shape', values.shape, ['wrapped', 'unwrapped']),
    shopName: notEmpty('--shop-name', values['shop-name']),
    forwardTo: urlOf('--forward-to', values['forward-to']),
    callbackQuery: oneOf('--callback-query', values['callback-query'], ['keep', 'drop']),
    auto: (values.auto ?? []).map(autoOf),
  };
  return { name: 'serve', options };
}

function readTrigger(args: string[]): Command {
  const { values, positionals } = parse(args, TRIGGER, ['scenario']);
  if (values.help) return { name: 'help' };
  const [scenario = ''] = positionals;
  if (!isScenario(scenario)) throw unknown('scenario', scenario, Object.keys(SCENARIOS));
  return { name: 'trigger', port: portOf(values.port), scenario, to: urlOf('--to', values.to) };
}

function readFault(args: string[]): Command {
  const { values, positionals } = parse(args, FAULT, ['fault']);
  if (values.help) return { name: 'help' };
  const [fault = ''] = positionals;
  if (!Object.hasOwn(FAULTS, fault)) throw unknown('fault', fault, Object.keys(FAULTS));
  const ms = values.ms === undefined ? undefined : Number(values.ms);
  if (ms !== undefined && !(ms >= 0 && ms <= LONGEST_TIMER)) {
    throw new UsageError(`--ms takes milliseconds, and not ${JSON.stringify(values.ms)}.`);
  }
  const on = oneOf('--on', values.on, ['create', 'lookup']) ?? 'create';
  return { name: 'fault', port: portOf(values.port), fault: fault as Fault, on, ms };
}

function portOf(value: string | undefined): number {
  const port = value === undefined ? DEFAULT_PORT : Number(value);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && value !== '') return port;
  throw new UsageError(`--port takes a number from 0 to 65535, and not ${JSON.stringify(value)}.`);
}

function oneOf<const T extends string>(option: string, value: string | undefined, values: readonly T[]): T | undefined {
  if (value === undefined) return undefined;
  const found = values.find(known => known === value);
  if (found) return found;
  throw new UsageError(`${option} takes ${values.join(' or ')}, and not ${JSON.stringify(value)}.`);
}

/** Keys are not echoed. */
function notEmpty(option: string, value: string | undefined): string | undefined {
  if (value === '') throw new UsageError(`${option} must not be empty.`);
  return value;
}

function urlOf(option: string, value: string | undefined): string | undefined {
  if (value === undefined || isHttpUrl(value)) return value;
  throw new UsageError(`${option} takes an http(s) URL, and not ${JSON.stringify(value)}.`);
}

function autoOf(value: string): Auto {
  const [, move, count, unit] = /^(complete|authorize|cancel|fail):(\d+(?:\.\d+)?)(ms|s)$/.exec(value) ?? [];
  if (!move) {
    throw new UsageError(
      `--auto takes a move and a time, such as complete:2s or fail:500ms, and not ${JSON.stringify(value)}.`,
    );
  }
  const ms = Number(count) * (unit === 's' ? 1000 : 1);
  if (ms > LONGEST_TIMER) throw new UsageError('--auto takes times up to 24 days.');
  return { move: move as Auto['move'], ms };
}
