// The driver of the app that the command line opens, and its options. run.test.ts has real drivers.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { open } from '../../src/cli/open.ts';
import type { SqlStoreOptions } from '../../src/sql/store.ts';
import { CommandError } from '../../src/terminal/program.ts';
import { errorOf } from '../support/fixtures.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** Plays each driver, and records its options and calls. */
const DOUBLE = `const given = [];
class Pool {
  options = { max: 2 };
  pool = { config: { connectionLimit: 2 } };
  constructor(...options) { given.push(options); }
  on(name) { given.push(name); }
  async end() { given.push('end'); }
  connect() {} query() {} execute() {} getConnection() {} unsafe() {} begin() {}
}
const make = (...options) => new Pool(...options);
module.exports = Object.assign(make, { given, Pool, createPool: make });`;
type Driver = 'pg' | 'postgres' | 'mysql2/promise';

/** Runs the command in the folder of an app with these drivers. @returns the calls of a driver */
function appWith(...drivers: Driver[]): (driver: Driver) => unknown[] {
  const app = mkdtempSync(join(tmpdir(), 'app-'));
  onTestFinished(() => rmSync(app, { recursive: true }));
  for (const driver of drivers) {
    const folder = join(app, 'node_modules', driver);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'index.js'), DOUBLE);
  }
  vi.spyOn(process, 'cwd').mockReturnValue(app);
  return driver => createRequire(join(app, 'package.json'))(driver).given;
}

/** With this address in the environment. */
function openAt(url: string, place: SqlStoreOptions = { scope: 'eu' }) {
  vi.stubEnv('DATABASE_URL', url);
  return open(place);
}

const POSTGRES = 'postgres://u:p@h/db';

it.each([
  ['', 'DATABASE_URL is missing: set it to the database of the store.'],
  [' ', 'DATABASE_URL is missing: set it to the database of the store.'],
  ['mssql://h/db', 'DATABASE_URL must begin with postgres:// or mysql://.'],
  ['x:mysql://h/db', 'DATABASE_URL must begin with postgres:// or mysql://.'],
  [POSTGRES, 'Neither pg nor postgres is installed here: run this in the folder of your app, or npm install pg.'],
  ['mysql://h/db', 'mysql2 is not installed here: run this in the folder of your app, or npm install mysql2.'],
])('a missing or wrong part is named: "%s"', async (url, message) => {
  appWith();
  const error = await errorOf((async () => openAt(url))());
  expect(error).toBeInstanceOf(CommandError);
  expect(error).toHaveProperty('message', message);
});

const LIMITS = { max: 2, connectionTimeoutMillis: 5_000, query_timeout: 5_000 };
it.each<[Driver, Driver[], url: string, options: unknown[], rest: string[]]>([
  // A lost idle connection must not end the process.
  ['pg', ['pg', 'postgres'], POSTGRES, [{ connectionString: POSTGRES, ...LIMITS }], ['error', 'end']],
  ['pg', ['pg'], 'postgresql://h/db', [{ connectionString: 'postgresql://h/db', ...LIMITS }], ['error', 'end']],
  [
    'postgres',
    ['postgres'],
    POSTGRES,
    [POSTGRES, { max: 2, connect_timeout: 5, onnotice: expect.anything() }],
    ['end'],
  ],
  ...['mysql', 'mariadb'].map(
    scheme =>
      [
        ...['mysql2/promise', ['mysql2/promise'], ` ${scheme}://u:p@mariadb:1/db `],
        ...[[{ uri: `${scheme}://u:p@mariadb:1/db`, connectionLimit: 2, connectTimeout: 5_000 }], ['end']],
      ] as [Driver, Driver[], string, unknown[], string[]],
  ),
])('%s, of %j, gets the address %s, and time limits', async (driver, drivers, url, options, rest) => {
  const given = appWith(...drivers);
  await openAt(url).close();
  expect(given(driver)).toEqual([options, ...rest]);
});

it('the store has the given place, and an empty prefix counts as absent', () => {
  appWith('pg');
  const look = (place: SqlStoreOptions) => {
    const { store } = openAt(POSTGRES, place);
    return [store.scope, store.settleMargin, store.ddl()];
  };
  const own = { scope: 'eu', tablePrefix: 'own', settleMargin: 60_000 };
  expect(look(own)).toEqual(['eu', 60_000, expect.stringContaining('own_rows')]);
  const usual = expect.stringContaining('payment_gateway_rows');
  expect(look({ scope: 'eu', tablePrefix: '' })).toEqual(['eu', undefined, usual]);
});
