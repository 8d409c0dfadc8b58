import { describe, expect, it } from 'vitest';
import { SANDBOX, SCENARIO_FILE } from '../../src/sandbox/cli/commands.ts';
import { FAULTS } from '../../src/sandbox/faults/kinds.ts';
import { SCENARIO_NAMES } from '../../src/sandbox/scenarios/library.ts';
import { readCommandLine } from '../../src/terminal/command-line.ts';
import { helpOf } from '../../src/terminal/help.ts';
import { UsageError } from '../../src/terminal/usage-error.ts';

const read = (line: string) => readCommandLine(SANDBOX, line.split(' ').filter(Boolean));
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
  it('serves unless told otherwise', () => {
    expect(read('')).toEqual({ name: 'serve', args: [], values: {} });
    expect(read('serve --port 0')).toEqual({ name: 'serve', args: [], values: { port: 0 } });
  });

  it('takes every option of the gateway', () => {
    const line =
      '--port 0 --host 0.0.0.0 --allow-host sandbox --allow-host gateway --api-key k --sign-key s ' +
      '--signature-encoding base64 --terminal onramp --payid redirect --shape unwrapped --latency 250ms ' +
      '--shop-name Nordlicht --forward-to http://localhost:3000/webhooks --callback-query drop ' +
      '--callback-retries 1s,5s,30s --auto authorize:500ms --auto complete:2s --state a.json --seed a ' +
      '--max-payments 5 --max-deliveries 6 --json';
    expect(read(line)).toEqual({
      name: 'serve',
      args: [],
      values: {
        port: 0,
        host: '0.0.0.0',
        'allow-host': ['sandbox', 'gateway'],
        'api-key': 'k',
        'sign-key': 's',
        'signature-encoding': 'base64',
        terminal: 'onramp',
        payid: 'redirect',
        shape: 'unwrapped',
        latency: 250,
        'shop-name': 'Nordlicht',
        'forward-to': 'http://localhost:3000/webhooks',
        'callback-query': 'drop',
        'callback-retries': [1_000, 5_000, 30_000],
        auto: [
          { move: 'authorize', ms: 500 },
          { move: 'complete', ms: 2000 },
        ],
        state: 'a.json',
        seed: 'a',
        'max-payments': 5,
        'max-deliveries': 6,
        json: true,
      },
    });
  });

  it.each([
    [
      'trigger deposit-declined --port 5 --to http://localhost:3000/',
      ['deposit-declined'],
      { port: 5, to: 'http://localhost:3000/' },
    ],
    ['trigger ./mine.yaml', ['./mine.yaml'], {}],
    ['trigger -', ['-'], {}],
    ['trigger mine.yml', ['mine.yml'], {}],
    ['trigger mine.json', ['mine.json'], {}],
    ['--port 65535', [], { port: 65_535 }],
    ['fault slow --probability 1', ['slow'], { probability: 1 }],
    ['--port 5 trigger deposit-completed', ['deposit-completed'], { port: 5 }],
    ['fault slow --on lookup --ms 250 --count 2', ['slow'], { on: 'lookup', ms: 250, count: 2 }],
    ['fault slow --probability 0.5 --reference a', ['slow'], { probability: 0.5, reference: 'a' }],
    [
      'wait --id x --status FAILED --answered --timeout 2m',
      [],
      { id: 'x', status: 'FAILED', answered: true, timeout: 120_000 },
    ],
    ['clock --at 2026-11-21T09:00:00Z', [], { at: Date.UTC(2026, 10, 21, 9) }],
    ['fail order-1 --code 4004 --force', ['order-1'], { code: '4004', force: true }],
    ['wait --id x --timeout 10m', [], { id: 'x', timeout: 600_000 }],
    ['list --url http://sandbox:4010', [], { url: 'http://sandbox:4010' }],
    ['scenarios', [], {}],
  ])('reads %s', (line, args, values) => {
    expect(read(line)).toEqual({ name: expect.any(String), args, values });
  });

  it.each([
    ['--prot 3', 'No option is called "--prot". Did you mean --port?'],
    ['--frobnicate', 'No option is called "--frobnicate". There are: --port, '],
    ['--port', "Option '--port <value>' argument missing."],
    ['--port http', '--port takes a number from 0 to 65535, and not "http".'],
    ['--port 65536', 'and not "65536"'],
    ['--port=', 'and not ""'],
    ['--port 5x', 'and not "5x"'],
    ['--port x5', 'and not "x5"'],
    ['--port 1.5', 'and not "1.5"'],
    ['fault slow --probability 0', '--probability takes a number above 0, and at most 1, and not "0".'],
    ['fault slow --probability=-1', 'and not "-1"'],
    ['fault slow --probability=', 'and not ""'],
    ['fault slow --probability 1.01', 'and not "1.01"'],
    ['--auto ,complete:2s', 'and not ",complete:2s"'],
    ['--auto complete:', 'and not "complete:"'],
    ['trigger mine.yaml.txt', 'No scenario is called "mine.yaml.txt".'],
    ['show a b', '"b" is one argument too many: see help show.'],
    ['--signature-encoding HEX', '--signature-encoding takes hex or base64, and not "HEX".'],
    ['--terminal crypto', '--terminal takes standard or onramp'],
    ['--payid card', '--payid takes host-to-host or redirect'],
    ['--shape round', '--shape takes wrapped or unwrapped'],
    ['--shop-name=', '--shop-name must not be empty'],
    ['--forward-to localhost:3000', '--forward-to takes an http(s) URL'],
    ['--latency soon', '--latency takes a time such as 500ms, 5s, 2m, 1h or 7d, and at most 24 days, and not "soon".'],
    ['--callback-retries 1s,soon', '--callback-retries takes a time'],
    ['--max-payments 0', '--max-payments takes a number 1 or more, and not "0".'],
    ['--auto complete', '--auto takes a move and a time, such as complete:2s or fail:500ms, and not "complete".'],
    ['--auto refund:2s', 'and not "refund:2s"'],
    ['--auto complete:9999999s', 'at most 24 days'],
    ['fault slow --ms 3000000000', '--ms takes a time'],
    ['fault slow --probability 2', '--probability takes a number above 0, and at most 1'],
    ['--api-key=', '--api-key must not be empty.'],
    ['--help=yes', "Option '-h, --help' does not take an argument."],
    ['srve', 'No command is called "srve". Did you mean serve?'],
    ['tirgger x', 'No command is called "tirgger". Did you mean trigger?'],
    ['help tirgger', 'No command is called "tirgger". Did you mean trigger?'],
    ['trigger', 'Which scenario? There are: deposit-completed, '],
    ['trigger deposit-complted', 'No scenario is called "deposit-complted". Did you mean deposit-completed?'],
    ['trigger deposit-completed twice', '"twice" is one argument too many: see help trigger.'],
    ['scenarios nope', 'No scenario is called "nope".'],
    ['completion powershell', 'No shell is called "powershell". There are: bash, zsh, fish.'],
    ['show', 'Which id or reference? See help show.'],
    ['fault toString', 'No fault is called "toString". There are: drop, '],
    ['fault slow --ms soon', '--ms takes a time'],
    ['fault slow --on callback', '--on takes create or lookup, and not "callback".'],
    [
      'wait --id x --timeout soon',
      '--timeout takes a time such as 500ms, 5s, 2m, 1h or 7d, more than 0 and at most 10m, and not "soon".',
    ],
    ['wait --id x --timeout 0', 'and not "0"'],
    ['wait --id x --timeout 600001ms', 'and not "600001ms"'],
    ['clock --at noon', '--at takes a date such as 2026-11-21T09:00:00Z, and not "noon".'],
  ])('refuses %s: %s', (line, told) => {
    expect(refusalOf(line)).toContain(told);
  });

  it.each([
    ['trigger deposit-completed --api-key k', '--api-key is for serve, not for trigger.'],
    ['--follow', '--follow is for logs, not for serve.'],
    ['list --to http://x.example', '--to is for trigger, not for list.'],
    ['complete x --code 5', '--code is for fail, not for complete.'],
    ['show x --limit 5', '--limit is for list and logs, not for show.'],
    ['show x --force', '--force is for complete and authorize and cancel and fail, not for show.'],
    ['scenarios --port 5', 'scenarios takes no --port: see help scenarios.'],
  ])('ignores no option: %s', (line, told) => {
    expect(refusalOf(line)).toBe(told);
  });

  it('takes times with spaces between, and no text after them', () => {
    expect(readCommandLine(SANDBOX, ['--callback-retries', '1s, 5s'])).toMatchObject({
      values: { 'callback-retries': [1_000, 5_000] },
    });
    expect(() => readCommandLine(SANDBOX, ['--auto', 'complete:2s\nfail:1s'])).toThrow(
      '--auto takes a move and a time',
    );
  });

  it('offers each move with a time, and takes files by the end of their names', () => {
    expect(SANDBOX.options.auto.values).toEqual(['complete:2s', 'authorize:2s', 'cancel:2s', 'fail:2s']);
    expect(['-', 'a.yaml', 'a.yml', 'a.json'].map(name => SCENARIO_FILE.test(name))).toEqual([true, true, true, true]);
    expect(['-a', 'a-', 'a.yaml.txt', 'yaml'].map(name => SCENARIO_FILE.test(name))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  it('echoes no key', () => {
    expect(refusalOf('--api-key secret --port x')).not.toContain('secret');
  });
});

it('the help names every scenario and every fault', () => {
  for (const name of SCENARIO_NAMES) expect(helpOf(SANDBOX, 'trigger')).toMatch(new RegExp(`^  ${name} `, 'm'));
  for (const name of Object.keys(FAULTS)) expect(helpOf(SANDBOX, 'fault')).toMatch(new RegExp(`^  ${name} `, 'm'));
});
