// Which driver the command line takes, from the folder of the app, and what it gives to it. The drivers are doubles.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { open, type Place } from '../../src/cli/open.ts';
import type { Store } from '../../src/store/contract.ts';
import { CommandError } from '../../src/terminal/program.ts';
import { errorOf } from '../support/fixtures.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const POSTGRES = 'postgres://u:p@h/db';

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
    return { rows: [], command: 'SELECT' };
  }
  async connect() { return { query: (...given) => this.query(...given), release() {}, on() {}, removeListener() {} }; }
  async end() { exports.asked.push(['end']); }
};`,
  postgres: `exports = module.exports = (url, options) => {
  exports.made.push([url, options]);
  return {
    options: { max: options.max },
    unsafe: async (text, values) => { exports.asked.push([text, values]); return []; },
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
    return [[], []];
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

/** Asks the store something. The doubles of the drivers have no answer. */
const ask = (store: Store) => store.list({ kind: 'create', states: ['begun'] });

/** With this address in the environment. */
function openAt(url: string, place: Place = { scope: 'eu' }) {
  vi.stubEnv('DATABASE_URL', url);
  return open(place);
}

describe('what is missing or wrong', () => {
  it.each([
    ['', 'DATABASE_URL is missing: set it to the database of the store.'],
    [' ', 'DATABASE_URL is missing: set it to the database of the store.'],
    ['mssql://h/db', 'DATABASE_URL must begin with postgres:// or mysql://.'],
    ['x:postgres://h/db', 'DATABASE_URL must begin with postgres:// or mysql://.'],
    ['x:mysql://h/db', 'DATABASE_URL must begin with postgres:// or mysql://.'],
    [
      'postgres://h/db',
      'Neither pg nor postgres is installed here: run this in the folder of your app, or npm install pg.',
    ],
    ['mysql://h/db', 'mysql2 is not installed here: run this in the folder of your app, or npm install mysql2.'],
  ])('is said: "%s"', async (url, message) => {
    appWith();
    const error = await errorOf((async () => openAt(url))());
    expect(error).toBeInstanceOf(CommandError);
    expect(error).toHaveProperty('message', message);
  });
});

describe('the store', () => {
  it.each(['postgres', 'postgresql'])('of %s:// is in the pool of pg, which is told when to give up', async scheme => {
    const driver = appWith('pg', 'postgres');
    const url = `${scheme}://u:p@h/db`;
    const { store, close } = openAt(url);
    expect(driver('pg').made).toEqual([
      { connectionString: url, max: 2, connectionTimeoutMillis: 5_000, query_timeout: 5_000 },
    ]);
    await errorOf(ask(store));
    await close();
    // A connection that is lost while nobody uses it ends no process.
    expect(driver('pg').asked.map(([what, value]) => (what === 'on' ? value : what))).toEqual([
      'error',
      expect.stringMatching(/^SELECT /),
      'end',
    ]);
  });

  it('is in postgres.js where there is no pg', async () => {
    const driver = appWith('postgres');
    const { store, close } = openAt(POSTGRES);
    expect(driver('postgres').made).toEqual([
      ['postgres://u:p@h/db', { max: 2, connect_timeout: 5, onnotice: expect.any(Function) }],
    ]);
    await errorOf(ask(store));
    await close();
    expect(driver('postgres').asked.at(-1)).toEqual(['end']);
  });

  it.each(['mysql', 'mariadb'])('of %s:// is in the pool of mysql2', async scheme => {
    const driver = appWith('mysql2/promise');
    const { store, close } = openAt(` ${scheme}://u:p@mariadb:1/db `);
    expect(driver('mysql2/promise').made).toEqual([
      { uri: 'mysql://u:p@mariadb:1/db', connectionLimit: 2, connectTimeout: 5_000 },
    ]);
    await errorOf(ask(store));
    await close();
    expect(driver('mysql2/promise').asked.at(-1)).toEqual(['end']);
  });

  it('has the given place. An empty prefix counts as absent', async () => {
    const driver = appWith('pg');
    const look = async (place: Place) => {
      const { store } = openAt(POSTGRES, place);
      await errorOf(ask(store));
      return [store.scope, store.settleMargin, JSON.stringify(driver('pg').asked)];
    };
    expect(await look({ scope: 'eu', tablePrefix: 'own', settleMargin: 60_000 })).toEqual([
      ...['eu', 60_000],
      expect.stringContaining('own_rows'),
    ]);
    const usual = expect.stringContaining('payment_gateway_rows');
    expect(await look({ scope: 'eu', tablePrefix: '' })).toEqual(['eu', undefined, usual]);
  });
});
