// What the command line of operators and schedulers understands, without running it.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { sdkProgram } from '../../src/cli/program.ts';
import { readLine } from '../support/command-lines.ts';
import { ID } from '../support/fixtures.ts';

const read = (line: string) => readLine(sdkProgram(), line);
afterEach(() => void vi.unstubAllEnvs());

describe('the command line', () => {
  it.each<[string, string[], object]>([
    ['doubts --json --scope eu --table-prefix pay', [], { json: true, scope: 'eu', tablePrefix: 'pay' }],
    ['show payout-77 --scope eu --settle-margin 0', ['payout-77'], { scope: 'eu', settleMargin: 0 }],
    [`settle payout-77 ${ID} --json --scope eu`, ['payout-77', ID], { json: true, scope: 'eu' }],
    [
      'settle a not_created --scope eu --despite reference amount --despite currency',
      ['a', 'not_created'],
      { scope: 'eu', despite: ['reference', 'amount', 'currency'] },
    ],
    ['reviews --scope eu --json', [], { scope: 'eu', json: true }],
    [`resolve ${ID} COMPLETED --scope eu`, [ID, 'COMPLETED'], { scope: 'eu' }],
    ['upkeep --app app.js', [], { app: 'app.js' }],
    [
      'upkeep --app a --once --limit 5 --concurrency 2 --older-than 0 --give-up-after 60000',
      [],
      { app: 'a', once: true, limit: 5, concurrency: 2, olderThan: 0, giveUpAfter: 60_000 },
    ],
  ])('%s', (line, args, values) => {
    expect(read(line)).toEqual({ name: line.split(' ')[0], args, values });
  });

  it('reads the place of the store from the environment, unless an option names another', () => {
    vi.stubEnv('PAYMENT_GATEWAY_SCOPE', 'us');
    vi.stubEnv('PAYMENT_GATEWAY_TABLE_PREFIX', 'payouts');
    vi.stubEnv('PAYMENT_GATEWAY_SETTLE_MARGIN', '60000');
    const place = { scope: 'us', tablePrefix: 'payouts', settleMargin: 60_000 };
    expect(read('doubts')).toMatchObject({ values: place });
    expect(read('doubts --scope eu')).toMatchObject({ values: { ...place, scope: 'eu' } });
    vi.stubEnv('PAYMENT_GATEWAY_SETTLE_MARGIN', '10m');
    expect(read('doubts')).toMatch(/'10m' from env 'PAYMENT_GATEWAY_SETTLE_MARGIN' is invalid\. Pass a whole number/);
  });

  it.each([
    ['settl a b', "unknown command 'settl' (Did you mean settle?)"],
    ['doubts --scope eu --jsn', "unknown option '--jsn' (Did you mean --json?)"],
    ['show --scope eu', "missing required argument 'reference'"],
    ['doubts a --scope eu', "too many arguments for 'doubts'. Expected 0 arguments but got 1: a."],
    [
      'settle a not_created --scope eu --despite amuont',
      'Allowed choices are reference, paymentType, amount, currency, paymentId.',
    ],
    ['show a --scope eu --despite amount', "unknown option '--despite'"],
    ['upkeep', "required option '--app <file>' not specified"],
    ['doubts', "required option '--scope <scope>' not specified"],
    ['reviews', "required option '--scope <scope>' not specified"],
    ['sweep', "unknown command 'sweep'"],
    ['upkeep --limit 0', "option '--limit <count>' argument '0' is invalid. Pass a whole number, 1 or more."],
    ['upkeep --limit 1e3', "argument '1e3' is invalid"],
    ['upkeep --app a --older-than 1h', "argument '1h' is invalid. Pass a whole number, 0 or more."],
  ])('refuses "%s" in one line', (line, message) => {
    const refusal = read(line);
    expect(refusal).toContain(message);
    expect(refusal).toMatch(/^payment-gateway-sdk: [^\n]*$/);
  });

  it.each(['', 'help', '--help'])('prints its help, with the environment and the exit codes: "%s"', line => {
    expect(read(line)).toMatch(
      /Commands:\n[\s\S]*doubts [\s\S]*Environment, [^\n]*\n {2}DATABASE_URL [\s\S]*Exit codes:\n {2}0/,
    );
  });
});
