// What the command line of operators and schedulers understands, without running it.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { sdkProgram } from '../../src/cli/program.ts';
import { readLine } from '../support/command-lines.ts';
import { ID } from '../support/fixtures.ts';

const read = (line: string) => readLine(sdkProgram(), line);
afterEach(() => void vi.unstubAllEnvs());

describe('the command line', () => {
  it.each<[string, string[], object]>([
    ['doubts', [], {}],
    ['doubts --json --scope eu --table doubts', [], { json: true, scope: 'eu', table: 'doubts' }],
    ['show payout-77 --settle-margin 0', ['payout-77'], { settleMargin: 0 }],
    [`settle payout-77 ${ID} --json`, ['payout-77', ID], { json: true }],
    [
      'settle a not_created --despite reference amount --despite currency',
      ['a', 'not_created'],
      { despite: ['reference', 'amount', 'currency'] },
    ],
    [
      'drain --follow --limit 5 --concurrency 2 --scope eu',
      [],
      { follow: true, limit: 5, concurrency: 2, scope: 'eu' },
    ],
    ['drain --app app.js', [], { app: 'app.js' }],
    ['sweep --app a --older-than 0 --give-up-after 60000', [], { app: 'a', olderThan: 0, giveUpAfter: 60_000 }],
  ])('%s', (line, args, values) => {
    expect(read(line)).toEqual({ name: line.split(' ')[0], args, values });
  });

  it('reads the place of the journal from the environment, unless it is told another', () => {
    vi.stubEnv('PAYMENT_GATEWAY_JOURNAL_SCOPE', 'us');
    vi.stubEnv('PAYMENT_GATEWAY_JOURNAL_TABLE', 'payouts');
    vi.stubEnv('PAYMENT_GATEWAY_SETTLE_MARGIN', '60000');
    const place = { scope: 'us', table: 'payouts', settleMargin: 60_000 };
    expect(read('doubts')).toMatchObject({ values: place });
    expect(read('doubts --scope eu')).toMatchObject({ values: { ...place, scope: 'eu' } });
    vi.stubEnv('PAYMENT_GATEWAY_SETTLE_MARGIN', '10m');
    expect(read('doubts')).toMatch(/'10m' from env 'PAYMENT_GATEWAY_SETTLE_MARGIN' is invalid\. Pass a whole number/);
  });

  it.each([
    ['settl a b', "unknown command 'settl' (Did you mean settle?)"],
    ['doubts --jsn', "unknown option '--jsn' (Did you mean --json?)"],
    ['show', "missing required argument 'reference'"],
    ['doubts a', "too many arguments for 'doubts'. Expected 0 arguments but got 1: a."],
    [
      'settle a not_created --despite amuont',
      'Allowed choices are reference, paymentType, amount, currency, paymentId.',
    ],
    ['show a --despite amount', "unknown option '--despite'"],
    ['sweep', "required option '--app <file>' not specified"],
    ['drain --limit 0', "option '--limit <count>' argument '0' is invalid. Pass a whole number, 1 or more."],
    ['drain --limit 1e3', "argument '1e3' is invalid"],
    ['sweep --app a --older-than 1h', "argument '1h' is invalid. Pass a whole number, 0 or more."],
  ])('refuses "%s" in one line', (line, message) => {
    const refusal = read(line);
    expect(refusal).toContain(message);
    expect(refusal).toMatch(/^payment-gateway-sdk: [^\n]*$/);
  });

  it.each(['', 'help', '--help'])('prints its help, with the environment and the exit codes: "%s"', line => {
    expect(read(line)).toMatch(
      /Commands:\n[\s\S]*doubts [\s\S]*Environment:\n {2}DATABASE_URL [\s\S]*Exit codes:\n {2}0/,
    );
  });
});
