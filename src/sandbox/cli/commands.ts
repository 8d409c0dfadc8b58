// The commands of the sandbox.
import type { Command as CommandOf } from '../../terminal/command-line.ts';
import type { CommandEntry, Program } from '../../terminal/program.ts';
import { CALL_FAULTS, CALLBACK_FAULTS, CREATE_FAULTS, FAULTS } from '../faults/kinds.ts';
import { doesOf, LIBRARY, SCENARIO_NAMES } from '../scenarios/library.ts';
import { OPTIONS, type OptionName } from './options.ts';

export const DEFAULT_PORT = 4010;

/** What a file of a scenario is called; `-` is standard input. */
export const SCENARIO_FILE = /^-$|\.(ya?ml|json)$/;

type Entry = CommandEntry<OptionName>;

const JSON_OUT = 'print JSON';
/** Where the sandbox is. */
const REMOTE = {
  port: `where the sandbox listens on this machine (default: ${DEFAULT_PORT})`,
  url: 'where it is, if that is elsewhere: http://sandbox:4010',
  json: JSON_OUT,
} as const;

const PAYMENT = { name: 'id or reference' } as const;
const FORCE = 'also out of a final state';

const move = (does: string, further: Entry['options'] = {}): Entry => ({
  does,
  arguments: [PAYMENT],
  options: { ...further, force: FORCE, ...REMOTE },
  more: ['Its callback is then on the way.'],
});

const COMMANDS = {
  serve: {
    does: 'run the gateway, its payment pages and its dashboard',
    options: {
      port: `where it listens; 0 takes a free port (default: ${DEFAULT_PORT})`,
      host: 'the address it listens on; 0.0.0.0 in a container (default: 127.0.0.1)',
      'allow-host': 'a name that callers may use besides those of loopback; repeatable',
      'forward-to': 'post every callback there, and not to the address of the payment',
      auto: 'move each new payment by itself: complete:2s, fail:500ms; repeatable',
      state: 'keep everything in this file, and go on from there next time',
      latency: 'how much longer each call takes (default: 0)',
      'callback-retries': 'when a callback that is not taken comes again: 1s,5s,30s (default: never)',
      'shop-name': "the shop on the customer's page (default: Your shop)",
      'callback-query': "keep or drop the query of a callback's address (default: keep)",
      'api-key': 'the bearer that calls must carry (default: sandbox-api-key)',
      'sign-key': 'the key that creates must be signed with (default: sandbox-sign-key)',
      'signature-encoding': 'how the signature is written (default: hex)',
      terminal: 'onramp also takes the on-ramp methods (default: standard)',
      payid: 'a PayID deposit gets transfer instructions, or a page (default: host-to-host)',
      shape: "unwrapped is the interface's earlier variant (default: wrapped)",
      seed: 'the same one gives the same ids in every run',
      'max-payments': 'how many are kept; the oldest final ones go (default: 10000)',
      'max-deliveries': 'how many deliveries of callbacks are kept (default: 20000)',
      json: 'print a line of JSON for each thing that happens',
    },
    examples: ['--forward-to http://localhost:3000/callbacks', '--auto complete:2s --state sandbox.json'],
  },
  trigger: {
    does: 'play a scenario: a payment is created, moved and called back',
    arguments: [{ name: 'scenario', values: SCENARIO_NAMES, orFile: SCENARIO_FILE }],
    options: { to: "your server's address for callbacks (default: the sandbox's --forward-to)", ...REMOTE },
    more: [
      'A file is YAML or JSON and ends in .yaml, .yml or .json; - reads standard input. "scenarios <name>" prints one to begin with.',
      'Exit code 1 says that your server did not answer as expected. If nobody says where callbacks go, none is posted and nothing is checked.',
    ],
    lists: [
      {
        title: 'Scenarios',
        entries: Object.fromEntries(Object.entries(LIBRARY).map(([name, text]) => [name, doesOf(text)])),
      },
    ],
    examples: ['trigger callback-forged', 'trigger ./my.yaml --to http://localhost:3000/callbacks'],
  },
  scenarios: {
    does: 'list the scenarios, or print one as a file to begin with',
    arguments: [{ name: 'scenario', isOptional: true, values: SCENARIO_NAMES }],
    options: { json: JSON_OUT },
    examples: ['scenarios callback-forged > forged.yaml'],
  },
  list: {
    does: 'list the payments, the newest first',
    options: {
      status: 'only those in this state',
      reference: 'only those with this reference',
      search: "a part of the id, reference, description, amount or customer's email",
      limit: 'how many at most (default: 50)',
      ...REMOTE,
    },
  },
  show: {
    does: 'show a payment, and what happened to it',
    arguments: [PAYMENT],
    options: REMOTE,
  },
  complete: move('a payment is paid'),
  authorize: move('a payment is authorised, and not captured'),
  cancel: move('a payment is canceled'),
  fail: move('a payment fails', {
    code: "a processor's code, which the gateway translates: 4001, 4004, 4018",
    reason: 'a text, which passes through unchanged',
  }),
  wait: {
    does: 'wait until a payment is as asked for',
    options: {
      reference: 'the newest payment with this reference',
      id: 'the payment with this id',
      status: 'in this state',
      answered: 'and the callback of its state is answered with 2xx',
      timeout: 'how long, at most 10m (default: 30s)',
      ...REMOTE,
    },
    more: ['Exit code 1 says that it was not so in time.'],
    examples: ['wait --reference order-1042 --answered --timeout 10s'],
  },
  logs: {
    does: 'print the latest calls and deliveries, a line each',
    options: {
      follow: 'go on with what happens from now on',
      limit: 'how many of the latest at most (default: 50)',
      ...REMOTE,
      json: 'print a line of JSON for each',
    },
  },
  fault: {
    does: 'arm a fault for the next call or the next callback',
    arguments: [{ name: 'fault', values: Object.keys(FAULTS) }],
    options: {
      on: 'the call that a fault of calls is injected into (default: create)',
      ms: 'how long, for slow and callback-delay: 500ms, 5s',
      count: 'how often it is injected (default: 1)',
      probability: 'how likely each time: above 0, at most 1 (default: 1)',
      reference: 'only for payments with this reference',
      ...REMOTE,
    },
    lists: [
      { title: 'Faults of the next call', entries: CALL_FAULTS },
      { title: 'Faults of the next create alone', entries: CREATE_FAULTS },
      { title: 'Faults of the next callback', entries: CALLBACK_FAULTS },
    ],
    examples: ['fault commit-then-drop', 'fault reject-429 --on lookup --count 3'],
  },
  faults: {
    does: 'list the faults that are armed, or disarm them',
    options: { disarm: 'this one, by its number, or all of them', ...REMOTE },
  },
  redeliver: {
    does: 'post a callback again; exit code 1 if it is not taken',
    arguments: [{ name: 'delivery' }],
    options: { body: 'a file that is posted in place of its body; - reads standard input', ...REMOTE },
    more: ['"show" prints the number of each delivery.'],
  },
  clock: {
    does: "print the sandbox's clock, or move it",
    options: { advance: 'move it forward: what waits for that time happens', at: 'set it to a date', ...REMOTE },
    examples: ['clock --advance 5m', 'clock --at 2026-11-21T09:00:00Z'],
  },
  reset: { does: 'forget every payment, call, callback and fault', options: REMOTE },
} as const satisfies Record<string, Entry>;

export type CommandName = keyof typeof COMMANDS;

/** One of them, with what was given to it. */
export type Command = CommandOf<CommandName, typeof OPTIONS>;

export const SANDBOX: Program<CommandName, typeof OPTIONS> = {
  name: 'payment-gateway-sandbox',
  does: 'the payment gateway, on this machine. No account, no network, no money.',
  options: OPTIONS,
  commands: COMMANDS,
  otherwise: 'serve',
  exitCodes: 'Exit codes: 0 good; 1 not as expected, or not in time; 2 not understood, refused, or no sandbox there.',
};
