// What the command line of operators and schedulers understands, and what its help says, without running it.
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { SDK } from '../../src/cli/commands.ts';
import { open } from '../../src/cli/open.ts';
import { DIFFERENCES } from '../../src/schemas/matching.ts';
import { readCommandLine } from '../../src/terminal/command-line.ts';
import { helpOf } from '../../src/terminal/help.ts';
import { UsageError } from '../../src/terminal/usage-error.ts';
import { ID } from '../support/fixtures.ts';

const read = (line: string) => readCommandLine(SDK, line.split(' ').filter(Boolean));
const refusal = (line: string): string => {
  try {
    read(line);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return 'nothing was thrown';
};

const EU = { scope: 'eu', table: 'doubts' };

describe('the command line', () => {
  it.each<[string, object]>([
    ['doubts', { name: 'doubts', args: [], values: {} }],
    ['--json doubts --scope eu --table doubts', { name: 'doubts', args: [], values: { json: true, ...EU } }],
    ['show payout-77', { name: 'show', args: ['payout-77'], values: {} }],
    [
      'show payout-77 --json --scope eu --table doubts',
      { name: 'show', args: ['payout-77'], values: { json: true, ...EU } },
    ],
    ['settle payout-77 not_created', { name: 'settle', args: ['payout-77', 'not_created'], values: {} }],
    [
      `settle payout-77 ${ID} --json --scope eu --table doubts`,
      { name: 'settle', args: ['payout-77', ID], values: { json: true, ...EU } },
    ],
    [
      'settle a not_created --despite reference,amount --despite currency',
      { name: 'settle', args: ['a', 'not_created'], values: { despite: [['reference', 'amount'], ['currency']] } },
    ],
    ['drain', { name: 'drain', args: [], values: {} }],
    [
      'drain --follow --limit 5 --concurrency 2 --scope eu --table doubts',
      { name: 'drain', args: [], values: { ...EU, limit: 5, concurrency: 2, follow: true } },
    ],
    ['drain --app app.js --limit 5', { name: 'drain', args: [], values: { app: 'app.js', limit: 5 } }],
    [
      'sweep --app app.js --older-than 0 --give-up-after 60000 --limit 10 --concurrency 1',
      {
        name: 'sweep',
        args: [],
        values: { app: 'app.js', limit: 10, concurrency: 1, 'older-than': 0, 'give-up-after': 60_000 },
      },
    ],
  ])('%s', (line, command) => {
    expect(read(line)).toEqual(command);
  });

  it('takes differences with spaces between', () => {
    const line = ['settle', 'a', ID, '--despite', 'reference, amount'];
    expect(readCommandLine(SDK, line)).toMatchObject({ values: { despite: [['reference', 'amount']] } });
  });

  it.each<[string, string]>([
    ['', 'Which command? There are: doubts, show, settle, drain, sweep, completion, help.'],
    ['settl a b', 'No command is called "settl". Did you mean settle?'],
    ['show', 'Which reference? See help show.'],
    ['settle', 'Which reference? See help settle.'],
    ['settle a', 'Which id or not_created? See help settle.'],
    ['doubts a', '"a" is one argument too many: see help doubts.'],
    ['settle a not_created c', '"c" is one argument too many: see help settle.'],
    [
      'settle a not_created --despite reference,xyz',
      '--despite takes reference or paymentType or amount or currency or paymentId, and not "xyz".',
    ],
    [
      'settle a not_created --despite amuont',
      '--despite takes reference or paymentType or amount or currency or paymentId, and not "amuont". Did you mean amount?',
    ],
    ['settle a b', `"b" is no id of a payment: pass the UUID that the gateway's support has named, or not_created.`],
    ['sweep --app a --scope eu', '--scope is for doubts and show and settle and drain, not for sweep.'],
    ['show a --despite amount', '--despite is for settle, not for show.'],
    ['drain --json', '--json is for doubts and show and settle, not for drain.'],
    ['sweep --follow', '--follow is for drain, not for sweep.'],
    ['drain --older-than 1', '--older-than is for sweep, not for drain.'],
    ['doubts --app a', '--app is for drain and sweep, not for doubts.'],
    ['doubts --scope=', '--scope must not be empty.'],
    ['doubts --table=', '--table must not be empty.'],
    ['drain --app=', '--app must not be empty.'],
    ['drain --limit all', '--limit takes a number 1 or more, and not "all".'],
    ['drain --limit 0', '--limit takes a number 1 or more, and not "0".'],
    ['sweep --concurrency 0', '--concurrency takes a number 1 or more, and not "0".'],
    ['sweep --older-than 1h', '--older-than takes a number 0 or more, and not "1h".'],
    ['sweep --give-up-after 30d', '--give-up-after takes a number 0 or more, and not "30d".'],
  ])('refuses "%s"', (line, message) => {
    expect(refusal(line)).toBe(message);
  });
});

describe('the help', () => {
  /** Without its line breaks. */
  const wordsOf = (name?: string) => helpOf(SDK, name).replace(/\s+/g, ' ');

  it('says what each option takes', () => {
    const taken = (name: string) =>
      Array.from(helpOf(SDK, name).matchAll(/^ {2}(--\S+ <\w+>)/gm), ([, option]) => option);
    expect(taken('settle')).toEqual(['--despite <names>', '--scope <scope>', '--table <table>']);
    expect(taken('drain')).toEqual([
      '--app <file>',
      '--limit <count>',
      '--concurrency <count>',
      '--scope <scope>',
      '--table <table>',
    ]);
    expect(taken('sweep').slice(1, 3)).toEqual(['--older-than <ms>', '--give-up-after <ms>']);
  });

  it('names every variable that is asked for', () => {
    // Until it finds no driver.
    const asked = new Set<string>();
    const environment = new Proxy<NodeJS.ProcessEnv>(
      { DATABASE_URL: 'postgres://h/db' },
      { get: (target, name) => asked.add(String(name)) && target[String(name)] },
    );
    vi.spyOn(process, 'cwd').mockReturnValue('/');
    onTestFinished(() => void vi.restoreAllMocks());
    expect(() => open({}, environment)).toThrow('npm install pg');
    expect(asked.size).toBe(4);
    const gatewayNeeds = ['PAYMENT_GATEWAY_URL', 'PAYMENT_GATEWAY_API_KEY', 'PAYMENT_GATEWAY_SIGN_KEY'];
    for (const name of [...asked, ...gatewayNeeds]) expect(helpOf(SDK)).toMatch(new RegExp(`^  ${name} +\\S`, 'm'));
  });

  it('names every difference, default and exit code', () => {
    expect(wordsOf('settle')).toContain(`differs in these: ${DIFFERENCES.join(', ')};`);
    const defaultsOf = (name: string) => wordsOf(name).match(/(?<=default: )[^,)]*/g);
    expect(defaultsOf('doubts')).toEqual(['PAYMENT_GATEWAY_JOURNAL_SCOPE', 'PAYMENT_GATEWAY_JOURNAL_TABLE']);
    expect(defaultsOf('settle')).toEqual(defaultsOf('doubts'));
    expect(defaultsOf('drain')).toEqual([
      '1000',
      '8',
      'PAYMENT_GATEWAY_JOURNAL_SCOPE',
      'PAYMENT_GATEWAY_JOURNAL_TABLE',
    ]);
    expect(defaultsOf('sweep')).toEqual(['60000', '2592000000', '1000', '8']);
    expect(wordsOf()).toMatch(/^payment-gateway-sdk: .* Commands .* Environment .* Exit codes: 0 .* 1 .* 2 /);
  });
});
