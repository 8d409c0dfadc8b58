// What --help prints: every command, option, scenario and fault.
import { columns } from '../../terminal/columns.ts';
import { CALL_FAULTS, CALLBACK_FAULTS, CREATE_FAULTS } from '../faults/kinds.ts';
import { SCENARIOS } from '../scenarios.ts';
import { DEFAULT_PORT } from './arguments.ts';

const table = (entries: Readonly<Record<string, string>>): string =>
  columns(Object.entries(entries).map(([name, does]) => [name, does.replaceAll('`', '')]));

export const HELP = `payment-gateway-sandbox: the payment gateway, on this machine. No account, no network, no money.

Usage
${columns([
  ['payment-gateway-sandbox [options]', 'run the gateway, its payment pages and its dashboard'],
  [
    'payment-gateway-sandbox trigger <scenario>',
    'play a whole scenario against a running sandbox; exit code 1 if a callback is not taken',
  ],
  ['payment-gateway-sandbox fault <fault>', 'arm a fault on a running sandbox'],
])}

Options
${columns([
  ['--port <number>', `where it listens, on 127.0.0.1; 0 takes a free port (default: ${DEFAULT_PORT})`],
  ['--api-key <key>', 'the bearer that calls must carry (default: sandbox-api-key)'],
  ['--sign-key <key>', 'the key that creates must be signed with (default: sandbox-sign-key)'],
  ['--signature-encoding <encoding>', 'hex or base64 (default: hex)'],
  ['--terminal <terminal>', 'standard, or onramp for the on-ramp methods (default: standard)'],
  ['--payid <way>', 'host-to-host: transfer instructions; or redirect: a page (default: host-to-host)'],
  ['--shape <shape>', "wrapped, or unwrapped as in the interface's earlier variant (default: wrapped)"],
  ['--shop-name <name>', "the shop on the customer's pages (default: Your shop)"],
  ['--forward-to <url>', 'post every callback there, and not to the address of the payment'],
  ['--callback-query <what>', "keep, or drop the query of a callback's address (default: keep)"],
  [
    '--auto <move>:<time>',
    'move each new payment by itself: complete:2s, authorize:1s, cancel:5s, fail:500ms; repeatable',
  ],
  ['--version', 'print the version'],
  ['-h, --help', 'print this'],
])}

Options of trigger
${columns([
  ['--port <number>', `where the sandbox listens (default: ${DEFAULT_PORT})`],
  ['--to <url>', "where its callbacks go (default: the sandbox's --forward-to)"],
])}

Options of fault
${columns([
  ['--port <number>', `where the sandbox listens (default: ${DEFAULT_PORT})`],
  ['--on <call>', 'the call that a fault of calls is injected into: create or lookup (default: create)'],
  ['--ms <number>', 'milliseconds, for slow and callback-delay'],
])}

Scenarios
${table(Object.fromEntries(Object.entries(SCENARIOS).map(([name, { does }]) => [name, does])))}

Faults of the next call
${table(CALL_FAULTS)}

Faults of the next create alone
${table(CREATE_FAULTS)}

Faults of the next callback
${table(CALLBACK_FAULTS)}
`;
