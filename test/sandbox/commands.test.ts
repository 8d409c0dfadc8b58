// What the sandbox's command line understands, without running it.
import { describe, expect, it } from 'vitest';
import { sandboxProgram } from '../../src/sandbox/cli/program.ts';
import { FAULTS } from '../../src/sandbox/faults/kinds.ts';
import { SCENARIOS } from '../../src/sandbox/scenarios/library.ts';
import { readLine } from '../support/command-lines.ts';

const read = (line: string | string[]) => readLine(sandboxProgram(), line);

describe('the command line', () => {
  it('serves without a command', () => {
    expect(read('')).toEqual({ name: 'serve', args: [], values: { port: 4010 } });
    expect(read('serve --port 0')).toEqual({ name: 'serve', args: [], values: { port: 0 } });
  });

  it('takes every option of the gateway', () => {
    const line =
      '--port 0 --host 0.0.0.0 --allow-host sandbox --allow-host gateway --api-key k --sign-key s ' +
      '--signature-encoding base64 --terminal onramp --payid redirect --shape unwrapped --latency 250ms ' +
      '--shop-name Nordlicht --forward-to http://localhost:3000/webhooks ' +
      '--callback-retries 1s,5s,30s --auto authorize:500ms --auto complete:2s --state a.json --seed a ' +
      '--max-payments 5 --max-deliveries 6 --json';
    expect(read(line)).toEqual({
      name: 'serve',
      args: [],
      values: {
        ...{ port: 0, host: '0.0.0.0', allowHost: ['sandbox', 'gateway'], apiKey: 'k', signKey: 's' },
        ...{ signatureEncoding: 'base64', terminal: 'onramp', payid: 'redirect', shape: 'unwrapped', latency: '250ms' },
        ...{ shopName: 'Nordlicht', forwardTo: 'http://localhost:3000/webhooks' },
        ...{ callbackRetries: ['1s', '5s', '30s'], state: 'a.json', seed: 'a', maxPayments: 5, maxDeliveries: 6 },
        auto: [
          { move: 'authorize', ms: 500 },
          { move: 'complete', ms: 2_000 },
        ],
        json: true,
      },
    });
    expect(read(['--callback-retries', '1s, 5s'])).toMatchObject({ values: { callbackRetries: ['1s', '5s'] } });
  });

  it.each<[string, string[], object]>([
    ['trigger deposit-declined --to http://localhost:3000/', ['deposit-declined'], { to: 'http://localhost:3000/' }],
    ['list --search a --status FAILED --limit 5 --url http://sandbox:4010', [], { search: 'a', limit: 5 }],
    ['fault slow --on lookup --ms 250 --count 2', ['slow'], { on: 'lookup', ms: '250', count: 2 }],
    ['fault slow --probability 0.5 --reference a', ['slow'], { probability: 0.5, reference: 'a' }],
    [
      'wait --id x --status failed --answered --timeout 2m',
      [],
      { id: 'x', status: 'FAILED', answered: true, timeout: '2m' },
    ],
    ['clock --at 2026-11-21T09:00:00Z', [], { at: '2026-11-21T09:00:00Z' }],
    ['fail order-1 --code 4004 --force', ['order-1'], { code: '4004', force: true }],
    ['redeliver 1 --body a.json --port 5', ['1'], { body: 'a.json', port: 5 }],
    ['faults --disarm all', [], { disarm: 'all' }],
    ['logs --follow', [], { follow: true, limit: 50 }],
  ])('reads %s', (line, args, values) => {
    expect(read(line)).toMatchObject({ name: line.split(' ')[0], args, values });
  });

  it.each([
    ['--prot 3', "unknown option '--prot' (Did you mean --port?)"],
    ['--port', "option '--port <number>' argument missing"],
    ['--port 65536', "argument '65536' is invalid. Pass a whole number, from 0 to 65535."],
    ['--port=', "argument '' is invalid"],
    ['--port 1.5', "argument '1.5' is invalid"],
    ['--auto ,complete:2s', 'Pass a move and a time, such as complete:2s or fail:500ms.'],
    ['--auto complete:', 'Pass a move and a time'],
    ['--auto refund:2s', 'Pass a move and a time'],
    ['--auto complete:9999999s', 'Pass a move and a time'],
    ['--signature-encoding hexa', "It must be 'hex' or 'base64'."],
    ['--shop-name=', 'It must be a text that is not empty.'],
    ['--api-key=', 'It must be a text that is not empty.'],
    ['--forward-to localhost:3000', 'It must be an absolute http(s) URL'],
    ['--latency soon', 'It must be a time such as 500ms, 5s, 2m, 1h or 7d, and at most 24 days.'],
    ['--callback-retries 1s,soon', 'It must be a time'],
    ['--max-payments 0', 'It must be 1 or more.'],
    ['list --status PAID', 'It must be PENDING or AUTHORIZED or'],
    ['list --limit many', 'It must be of the type'],
    ['trigger', "missing required argument 'scenario'"],
    ['trigger deposit-completed twice', 'Expected 1 argument but got 2: deposit-completed, twice.'],
    ['trigger deposit-completed --api-key k', "unknown option '--api-key'"],
    ['fault toString', 'Allowed choices are drop, '],
    ['fault slow --on callback', "It must be 'create' or 'lookup'."],
    ['clock --at noon', 'It must be a date such as 2026-11-21T09:00:00Z.'],
    ['complete x --code 5', "unknown option '--code'"],
    ['list --port 5 --url http://x.example', "'--url <url>' cannot be used with option '--port <number>'"],
  ])('refuses %s in one line: %s', (line, told) => {
    const refusal = read(line);
    expect(refusal).toContain(told);
    expect(refusal).toMatch(/^payment-gateway-sandbox: [^\n]*$/);
  });

  it('echoes no key', () => {
    expect(read('--api-key secret --port x')).not.toContain('secret');
  });
});

it('the help names every scenario and every fault', { tags: 'long' }, () => {
  for (const { name } of SCENARIOS) expect(read('help trigger')).toMatch(new RegExp(`^  ${name} `, 'm'));
  for (const name of Object.keys(FAULTS)) expect(read('help fault')).toMatch(new RegExp(`^  ${name} `, 'm'));
  expect(read('wait --help')).toMatch(/--answered +the callback of its state was answered with 2xx\n/);
});
