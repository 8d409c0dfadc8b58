// What the command line of operators and schedulers understands, without running it.
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readCommand } from '../../src/cli/arguments.ts';
import { HELP } from '../../src/cli/help.ts';
import { open } from '../../src/cli/open.ts';
import { DIFFERENCES } from '../../src/schemas/matching.ts';
import { UsageError } from '../../src/terminal/arguments.ts';
import { ID } from '../support/fixtures.ts';

const read = (line: string) => readCommand(line.split(' ').filter(Boolean));
const refusal = (line: string): string => {
  try {
    read(line);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return 'nothing was thrown';
};

const NOWHERE = { scope: undefined, table: undefined };
const EU = { scope: 'eu', table: 'doubts' };

describe('the command line', () => {
  it.each<[string, object]>([
    ['doubts', { name: 'doubts', json: false, place: NOWHERE }],
    ['--json doubts --scope eu --table doubts', { name: 'doubts', json: true, place: EU }],
    ['show payout-77', { name: 'show', json: false, place: NOWHERE, reference: 'payout-77' }],
    [
      'show payout-77 --json --scope eu --table doubts',
      { name: 'show', json: true, place: EU, reference: 'payout-77' },
    ],
    [
      'settle payout-77 not_created',
      { name: 'settle', json: false, place: NOWHERE, reference: 'payout-77', resolution: 'not_created', despite: [] },
    ],
    [
      `settle payout-77 ${ID} --json --scope eu --table doubts`,
      { name: 'settle', json: true, place: EU, reference: 'payout-77', resolution: ID, despite: [] },
    ],
    [
      'drain',
      {
        name: 'drain',
        place: NOWHERE,
        app: undefined,
        options: { limit: undefined, concurrency: undefined, follow: false },
      },
    ],
    [
      'drain --follow --limit 5 --concurrency 2 --scope eu --table doubts',
      { name: 'drain', place: EU, app: undefined, options: { limit: 5, concurrency: 2, follow: true } },
    ],
    [
      'drain --app app.js --limit 5',
      {
        name: 'drain',
        place: NOWHERE,
        app: 'app.js',
        options: { limit: 5, concurrency: undefined, follow: false },
      },
    ],
    [
      'sweep --app app.js --older-than 0 --give-up-after 60000 --limit 10 --concurrency 1',
      {
        name: 'sweep',
        app: 'app.js',
        options: { limit: 10, concurrency: 1, olderThan: 0, giveUpAfter: 60_000 },
      },
    ],
    ['help', { name: 'help' }],
    ['--help', { name: 'help' }],
    ['-h doubts', { name: 'help' }],
    ['settle --help', { name: 'help' }],
    ['--version', { name: 'version' }],
    ['doubts --version', { name: 'version' }],
  ])('%s', (line, command) => {
    expect(read(line)).toEqual(command);
  });

  it('takes differences in a list, or one by one', () => {
    expect(read('settle a not_created --despite reference,amount --despite currency')).toMatchObject({
      despite: ['reference', 'amount', 'currency'],
    });
    expect(readCommand(['settle', 'a', ID, '--despite', 'reference, amount'])).toMatchObject({
      despite: ['reference', 'amount'],
    });
  });

  it.each<[string, string]>([
    ['', 'Which command? There are: doubts, show, settle, drain, sweep, help.'],
    ['settl a b', 'No command is called "settl". Did you mean settle?'],
    ['show', 'A reference is missing: see npx payment-gateway-sdk --help.'],
    ['settle', 'A reference is missing: see npx payment-gateway-sdk --help.'],
    ['settle a', 'A paymentId or not_created is missing: see npx payment-gateway-sdk --help.'],
    ['doubts a', '"a" is one argument too many: see --help.'],
    ['show a b', '"b" is one argument too many: see --help.'],
    ['settle a b c', '"c" is one argument too many: see --help.'],
    [
      'settle a not_created --despite reference,xyz',
      'No difference is called "xyz". There are: reference, paymentType, amount, currency, paymentId.',
    ],
    ['settle a not_created --despite amuont', 'No difference is called "amuont". Did you mean amount?'],
    ['settle a b', `"b" is no id of a payment: pass the UUID that the gateway's support has named, or not_created.`],
    ['drain --app a --scope eu', '--scope is for a drain without --app: the journal of an app has its own.'],
    ['drain --app a --table t', '--table is for a drain without --app: the journal of an app has its own.'],
    ['sweep --app a --scope eu', '--scope is for doubts and show and settle and drain, not for sweep.'],
    ['show a --despite amount', '--despite is for settle, not for show.'],
    ['drain --json', '--json is for doubts and show and settle, not for drain.'],
    ['sweep --follow', '--follow is for drain, not for sweep.'],
    ['drain --older-than 1', '--older-than is for sweep, not for drain.'],
    ['doubts --app a', '--app is for drain and sweep, not for doubts.'],
    ['drain --limit all', '--limit must be a whole number.'],
    ['drain --limit 1.5', '--limit must be a whole number.'],
    ['drain --limit 5x', '--limit must be a whole number.'],
    ['drain --limit x5', '--limit must be a whole number.'],
    ['drain --limit=', '--limit must be a whole number.'],
    ['drain --limit 0', '--limit must be 1 or more.'],
    ['sweep --concurrency 0', '--concurrency must be 1 or more.'],
    ['sweep --older-than 1h', '--older-than must be a whole number.'],
    ['sweep --give-up-after 30d', '--give-up-after must be a whole number.'],
  ])('refuses "%s"', (line, message) => {
    expect(refusal(line)).toBe(message);
  });
});

describe('the help', () => {
  const lines = HELP.split('\n');
  /** What is said of each name. */
  const said = new Map(
    lines.map(line => (/^ {2}(\S.*?)(?: {2,}(.*))?$/.exec(line) ?? []).slice(1, 3) as [string, string]),
  );

  it('fits 80 columns', () => {
    expect(lines.filter(line => line.length > 80)).toEqual([]);
    expect(lines.filter(line => line.endsWith(' '))).toEqual([]);
  });

  it('says something of every command, option and variable', () => {
    const commands = /There are: (.*), help\./.exec(refusal(''))?.[1]?.split(', ') ?? [];
    const options = /There are: (.*)\./.exec(refusal('--zzzzzzzz'))?.[1]?.split(', ') ?? [];
    expect([commands.length, options.length]).toEqual([5, 12]);
    for (const name of [...commands, ...options.map(option => (option === '--help' ? '-h, --help' : option))]) {
      const [[, words = ''] = []] = [...said].filter(([row]) => row === name || row?.startsWith(`${name} `));
      expect([name, words]).toEqual([name, expect.stringMatching(/\w/)]);
    }
    // What the command asks the environment for, until it finds no driver.
    const asked = new Set<string>();
    const environment = new Proxy<NodeJS.ProcessEnv>(
      { DATABASE_URL: 'postgres://h/db' },
      { get: (target, name) => asked.add(String(name)) && target[String(name)] },
    );
    vi.spyOn(process, 'cwd').mockReturnValue('/');
    onTestFinished(() => void vi.restoreAllMocks());
    expect(() => open({ scope: undefined, table: undefined }, environment)).toThrow('npm install pg');
    expect(asked.size).toBe(5);
    for (const name of asked) expect(HELP).toContain(name);
    for (const name of ['DATABASE_URL', 'PAYMENT_GATEWAY_URL', 'PAYMENT_GATEWAY_API_KEY', 'PAYMENT_GATEWAY_SIGN_KEY'])
      expect([name, said.get(name)]).toEqual([name, expect.stringMatching(/\w/)]);
    expect([...said].filter(([name, words]) => name && !words)).toEqual([]);
  });

  it('names every difference, default and exit code', () => {
    const words = HELP.replace(/\s+/g, ' ');
    expect(words).toContain(`differs in these: ${DIFFERENCES.join(', ')} `);
    expect(words.match(/default: [^,)]*/g)).toEqual([
      'default: 1000',
      'default: 8',
      'default: 60000',
      'default: 2592000000',
      'default: PAYMENT_GATEWAY_JOURNAL_SCOPE',
      'default: PAYMENT_GATEWAY_JOURNAL_TABLE',
    ]);
    expect(words).toMatch(
      /^payment-gateway-sdk: .* Usage, .* Commands .* Options .* Environment .* Exit codes: 0 .* 1 .* 2 /,
    );
  });
});
