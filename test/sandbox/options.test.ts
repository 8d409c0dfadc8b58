import { describe, expect, it } from 'vitest';
import { readCommand } from '../../src/sandbox/cli/arguments.ts';
import { HELP } from '../../src/sandbox/cli/help.ts';
import { lineOf } from '../../src/sandbox/cli/lines.ts';
import { FAULTS } from '../../src/sandbox/faults/kinds.ts';
import { SCENARIOS } from '../../src/sandbox/scenarios.ts';
import { UsageError } from '../../src/terminal/arguments.ts';
import { printable } from '../../src/terminal/printable.ts';

const read = (line: string) => readCommand(line.split(' ').filter(Boolean));
const refusalOf = (line: string): string => {
  try {
    read(line);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return 'accepted';
};

describe('the command line', () => {
  it('serves unless told otherwise, on port 4010', () => {
    expect(read('')).toMatchObject({ name: 'serve', options: { port: 4010, auto: [] } });
  });

  it('takes every option of the gateway', () => {
    const line =
      '--port 0 --api-key k --sign-key s --signature-encoding base64 --terminal onramp --payid redirect --shape unwrapped ' +
      '--shop-name Nordlicht --forward-to http://localhost:3000/webhooks --callback-query drop --auto authorize:500ms --auto complete:2s';
    expect(read(line)).toEqual({
      name: 'serve',
      options: {
        port: 0,
        apiKey: 'k',
        signKey: 's',
        signatureEncoding: 'base64',
        terminal: 'onramp',
        payid: 'redirect',
        shape: 'unwrapped',
        shopName: 'Nordlicht',
        forwardTo: 'http://localhost:3000/webhooks',
        callbackQuery: 'drop',
        auto: [
          { move: 'authorize', ms: 500 },
          { move: 'complete', ms: 2000 },
        ],
      },
    });
  });

  it('takes its commands', () => {
    expect(read('trigger deposit-declined --port 5 --to http://localhost:3000/')).toEqual({
      name: 'trigger',
      port: 5,
      scenario: 'deposit-declined',
      to: 'http://localhost:3000/',
    });
    expect(read('fault slow --on lookup --ms 250')).toEqual({
      name: 'fault',
      port: 4010,
      fault: 'slow',
      on: 'lookup',
      ms: 250,
    });
    for (const line of ['--help', '-h', 'help', 'trigger --help', 'fault -h'])
      expect(read(line)).toEqual({ name: 'help' });
    expect(read('--port 5 trigger deposit-completed')).toMatchObject({ name: 'trigger', port: 5 });
    expect(read('--version')).toEqual({ name: 'version' });
  });

  it.each([
    ['--prot 3', 'No option is called "--prot". Did you mean --port?'],
    ['--frobnicate', 'No option is called "--frobnicate". There are: --port, '],
    ['--port', "Option '--port <value>' argument missing."],
    ['--port http', '--port takes a number from 0 to 65535, and not "http".'],
    ['--port 65536', 'and not "65536"'],
    ['--port=', 'and not ""'],
    ['--signature-encoding HEX', '--signature-encoding takes hex or base64, and not "HEX".'],
    ['--terminal crypto', '--terminal takes standard or onramp'],
    ['--payid card', '--payid takes host-to-host or redirect'],
    ['--shape round', '--shape takes wrapped or unwrapped'],
    ['--shop-name=', '--shop-name must not be empty'],
    ['--forward-to localhost:3000', '--forward-to takes an http(s) URL'],
    ['--auto complete', '--auto takes a move and a time, such as complete:2s or fail:500ms, and not "complete".'],
    ['--auto refund:2s', 'and not "refund:2s"'],
    ['--auto complete:9999999s', 'up to 24 days'],
    ['fault slow --ms 3000000000', '--ms takes milliseconds'],
    ['--api-key=', '--api-key must not be empty.'],
    ['--help=yes', "Option '-h, --help' does not take an argument."],
    ['serve', 'No command is called "serve". There are: trigger, fault, help.'],
    ['tirgger x', 'No command is called "tirgger". Did you mean trigger?'],
    ['trigger', 'Which scenario? There are: deposit-completed, '],
    ['trigger deposit-complted', 'No scenario is called "deposit-complted". Did you mean deposit-completed?'],
    ['trigger deposit-completed twice', '"twice" is one argument too many: see --help.'],
    ['trigger deposit-completed --api-key k', 'No option is called "--api-key"'],
    ['fault toString', 'No fault is called "toString". There are: drop, '],
    ['fault slow --ms soon', '--ms takes milliseconds, and not "soon".'],
    ['fault slow --on callback', '--on takes create or lookup, and not "callback".'],
  ])('refuses %s: %s', (line, told) => {
    expect(refusalOf(line)).toContain(told);
  });

  it('echoes no key', () => {
    expect(refusalOf('--api-key secret --port x')).not.toContain('secret');
  });

  it('has every scenario, fault and option in its help', () => {
    const names = [...Object.keys(SCENARIOS), ...Object.keys(FAULTS)];
    const options = [
      'port',
      'api-key',
      'sign-key',
      'signature-encoding',
      'terminal',
      'payid',
      'shape',
      'shop-name',
      'forward-to',
      'auto',
    ];
    for (const name of [...names, ...[...options, 'to', 'on', 'ms', 'version', 'help'].map(option => `--${option}`)]) {
      expect(HELP).toContain(name);
    }
  });
});

describe('a line', () => {
  it('of what a merchant sent cannot move the cursor or change colours', () => {
    expect(printable('order\u001b[2J\r\n\u009b31m\u202e\u2028x')).toBe('order·[2J···31m··x');
    const line = lineOf({
      type: 'request',
      at: 0,
      callId: 1,
      method: 'GET',
      path: '/\u001b]0;pwned\u0007',
      status: 404,
      durationMs: 1,
    });
    expect(line).toContain('/·]0;pwned·');
  });
});
