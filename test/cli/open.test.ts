// Which driver the command line takes, from the folder of the app, and what it gives to it. The drivers are doubles.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Values } from '../../src/cli/commands.ts';
import { open } from '../../src/cli/open.ts';
import { UsageError } from '../../src/terminal/usage-error.ts';
import { errorOf, ID, KEYS } from '../support/fixtures.ts';
import { fakeTimers, whileTimePasses } from '../support/passing-time.ts';

afterEach(() => vi.restoreAllMocks());

const NOWHERE = {};
const POSTGRES = { DATABASE_URL: 'postgres://u:p@h/db' };

/** What each driver keeps of how it was called. */
const DOUBLES = {
  pg: `exports.made = [];
exports.asked = [];
exports.Pool = class {
  options = { max: 2 };
  constructor(options) { exports.made.push(options); this.listeners = []; }
  on(name, listener) { exports.asked.push(['on', name]); listener(new Error('lost')); return this; }
  async query(text, values) {
    exports.asked.push([text, values]);
    return { rows: [{ now: '1', replica: 'false', revision: null }], command: 'SELECT' };
  }
  async connect() { return { query: (...given) => this.query(...given), release() {}, on() {}, removeListener() {} }; }
  async end() { exports.asked.push(['end']); }
};`,
  postgres: `exports = module.exports = (url, options) => {
  exports.made.push([url, options]);
  return {
    options: { max: options.max },
    unsafe: async (text, values) => { exports.asked.push([text, values]); return [{ now: '1', replica: 'false', revision: null }]; },
    begin: async work => work({}),
    end: async () => { exports.asked.push(['end']); },
  };
};
exports.made = [];
exports.asked = [];`,
  'mysql2/promise': `exports.made = [];
exports.asked = [];
exports.createPool = options => {
  exports.made.push(options);
  const execute = async ({ sql, values }) => {
    exports.asked.push([sql, values]);
    return [sql.includes(' FROM ') ? [] : [{ clock: '1', flush: '1' }], []];
  };
  return {
    pool: { config: { connectionLimit: 2 } },
    query: execute,
    execute,
    getConnection: async () => ({ query: execute, execute, release() {}, destroy() {} }),
    end: async () => { exports.asked.push(['end']); await exports.end?.(); },
  };
};`,
};
interface Double {
  /** How long the driver takes to end. */
  end?: () => Promise<void>;
  made: unknown[];
  asked: unknown[][];
}

/** The folder of an app that has these drivers, where the command runs. */
function appWith(...drivers: (keyof typeof DOUBLES)[]): (driver: keyof typeof DOUBLES) => Double {
  const app = mkdtempSync(join(tmpdir(), 'app-'));
  onTestFinished(() => rmSync(app, { recursive: true }));
  for (const driver of drivers) {
    const folder = join(app, 'node_modules', driver);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'index.js'), DOUBLES[driver]);
  }
  vi.spyOn(process, 'cwd').mockReturnValue(app);
  return createRequire(join(app, 'package.json'));
}

describe('what is missing or wrong', () => {
  it.each<[string, NodeJS.ProcessEnv, string]>([
    ['no address', {}, 'DATABASE_URL is missing: it leads to the database of the journal.'],
    [
      'nothing but white space',
      { DATABASE_URL: ' ' },
      'DATABASE_URL is missing: it leads to the database of the journal.',
    ],
    ['another database', { DATABASE_URL: 'mssql://h/db' }, 'DATABASE_URL must begin with postgres:// or mysql://.'],
    [
      'an address in another one',
      { DATABASE_URL: 'x:postgres://h/db' },
      'DATABASE_URL must begin with postgres:// or mysql://.',
    ],
    [
      'another one with MySQL in it',
      { DATABASE_URL: 'x:mysql://h/db' },
      'DATABASE_URL must begin with postgres:// or mysql://.',
    ],
    [
      'a margin in words',
      { ...POSTGRES, PAYMENT_GATEWAY_SETTLE_MARGIN: '10m' },
      'PAYMENT_GATEWAY_SETTLE_MARGIN must be milliseconds, such as 600000.',
    ],
    [
      'a margin with a sign',
      { ...POSTGRES, PAYMENT_GATEWAY_SETTLE_MARGIN: '-1' },
      'PAYMENT_GATEWAY_SETTLE_MARGIN must be milliseconds, such as 600000.',
    ],
  ])('is said: %s', async (_, env, message) => {
    appWith('pg');
    const error = await errorOf((async () => open(NOWHERE, env))());
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toHaveProperty('message', message);
  });

  it('is the driver', async () => {
    appWith();
    const messageOf = async (url: string) => {
      const error = await errorOf((async () => open(NOWHERE, { DATABASE_URL: url }))());
      expect(error).toBeInstanceOf(UsageError);
      return (error as Error).message;
    };
    expect(await messageOf('postgres://h/db')).toBe(
      'Neither pg nor postgres is installed here: run this in the folder of your app, or npm install pg.',
    );
    expect(await messageOf('mysql://h/db')).toBe(
      'mysql2 is not installed here: run this in the folder of your app, or npm install mysql2.',
    );
  });
});

describe('the journal', () => {
  it.each(['postgres', 'postgresql'])('of %s:// is in the pool of pg, which is told when to give up', async scheme => {
    const driver = appWith('pg', 'postgres');
    const url = `${scheme}://u:p@h/db`;
    const { journal, close } = open(NOWHERE, { DATABASE_URL: url });
    expect(driver('pg').made).toEqual([
      { connectionString: url, max: 2, connectionTimeoutMillis: 5_000, query_timeout: 5_000 },
    ]);
    expect(await journal.list({ scope: 'eu', states: ['begun'] })).toMatchObject({ rows: [] });
    await close();
    // A connection that is lost while nobody uses it ends no process.
    expect(driver('pg').asked.map(([what, value]) => (what === 'on' ? value : what))).toEqual([
      'error',
      expect.stringContaining('payment_gateway_journal'),
      'end',
    ]);
  });

  it('is in postgres.js where there is no pg', async () => {
    const driver = appWith('postgres');
    const { journal, close } = open(NOWHERE, POSTGRES);
    expect(driver('postgres').made).toEqual([
      ['postgres://u:p@h/db', { max: 2, connect_timeout: 5, onnotice: expect.any(Function) }],
    ]);
    expect(await journal.list({ scope: 'eu', states: ['begun'] })).toMatchObject({ rows: [] });
    await close();
    expect(driver('postgres').asked.at(-1)).toEqual(['end']);
  });

  it.each(['mysql', 'mariadb'])('of %s:// is in the pool of mysql2', async scheme => {
    const driver = appWith('mysql2/promise');
    const { journal, close } = open(NOWHERE, { DATABASE_URL: ` ${scheme}://u:p@mariadb:1/db ` });
    expect(driver('mysql2/promise').made).toEqual([
      { uri: 'mysql://u:p@mariadb:1/db', connectionLimit: 2, connectTimeout: 5_000 },
    ]);
    expect(await journal.list({ scope: 'eu', states: ['begun'] })).toMatchObject({ rows: [] });
    await close();
    expect(driver('mysql2/promise').asked.at(-1)).toEqual(['end']);
  });

  it('is left after five seconds where the driver still waits for an answer', async () => {
    const driver = appWith('mysql2/promise');
    const { close } = open(NOWHERE, { DATABASE_URL: 'mysql://u:p@h/db' });
    driver('mysql2/promise').end = () => new Promise(() => {});
    fakeTimers();
    expect(await whileTimePasses(close(), 1_000)).toBeUndefined();
  });

  /** The texts and values that a look into it sends. */
  async function looksOf(values: Values, env: NodeJS.ProcessEnv = {}) {
    const driver = appWith('pg');
    const opened = open(values, { ...POSTGRES, ...env });
    await opened.journal.list({ scope: 'eu', states: ['begun'] });
    return { opened, look: String(driver('pg').asked.at(-1)?.[0]) };
  }

  it('has the scope and the table of the command line, or else those of the environment', async () => {
    const env = { PAYMENT_GATEWAY_JOURNAL_SCOPE: 'us', PAYMENT_GATEWAY_JOURNAL_TABLE: 'env_table' };
    const byLine = await looksOf({ scope: 'eu', table: 'own_table' }, env);
    expect([byLine.opened.scope, byLine.opened.journal.scope]).toEqual(['eu', 'eu']);
    expect(byLine.look).toContain('own_table');
    const byEnv = await looksOf({}, env);
    expect([byEnv.opened.scope, byEnv.opened.journal.scope]).toEqual(['us', 'us']);
    expect(byEnv.look).toContain('env_table');
    const empty = await looksOf({}, { PAYMENT_GATEWAY_JOURNAL_SCOPE: '', PAYMENT_GATEWAY_JOURNAL_TABLE: ' ' });
    expect([empty.opened.scope, empty.opened.journal.scope]).toEqual([undefined, undefined]);
    expect(empty.look).toContain('payment_gateway_journal');
  });

  it('has the margin of the environment', async () => {
    const { opened } = await looksOf({}, { PAYMENT_GATEWAY_SETTLE_MARGIN: '60000' });
    expect(opened.journal.settleMargin).toBe(60_000);
    expect((await looksOf({})).opened.journal.settleMargin).toBeUndefined();
  });
});

describe('the gateway', () => {
  it('takes no keys until it is needed, is made once, and tells its events', async () => {
    appWith('pg');
    for (const name of ['PAYMENT_GATEWAY_URL', 'PAYMENT_GATEWAY_API_KEY', 'PAYMENT_GATEWAY_SIGN_KEY'])
      vi.stubEnv(name, '');
    onTestFinished(() => void vi.unstubAllEnvs());
    const onEvent = vi.fn();
    const opened = open(NOWHERE, POSTGRES, onEvent);
    expect(() => opened.gateway).toThrow('PAYMENT_GATEWAY_URL');
    vi.stubEnv('PAYMENT_GATEWAY_URL', 'http://127.0.0.1:1');
    vi.stubEnv('PAYMENT_GATEWAY_API_KEY', KEYS.apiKey);
    vi.stubEnv('PAYMENT_GATEWAY_SIGN_KEY', KEYS.signKey);
    expect(opened.gateway).toBe(opened.gateway);
    await errorOf(opened.gateway.getPayment(ID, { signal: AbortSignal.abort() }));
    expect(onEvent).toHaveBeenCalledWith(expect.objectContaining({ operation: 'lookup', type: 'failure' }));
  });
});
