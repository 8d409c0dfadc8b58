// The statements of a store in MySQL, and its reading of answers that a real server rarely gives.
import { mysqlStore } from 'payment-gateway-sdk/mysql';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ConfigurationError } from '../../src/errors.ts';
import type { MysqlBegun } from '../../src/mysql/effect-sql.ts';
import { mysqlStoreSql } from '../../src/mysql/store-sql.ts';
import { newRow } from '../../src/testing/test-function.ts';
import { errorOf } from '../support/fixtures.ts';
import { double } from '../support/sql-double.ts';

afterEach(() => vi.restoreAllMocks());

type Answers = Parameters<typeof double>[0];
const mysqlError = (errno: number) => Object.assign(new Error(`ERROR ${errno}`), { errno });
const hex = (text: string) => Buffer.from(text).toString('hex');

const NAMED: Answers[number] = ['SELECT DATABASE()', [{ name: 'shop' }]];
const LINE = {
  ...{ autocommit: 'on', replica: '0', flush: '1', clock: '5000' },
  ...{ kind: 'create', id: hex('payout-1'), state: 'begun', revision: '3', begun: '1000' },
  ...{ due: null, leased: null, payment: null, data: '{"amount":"5"}', about: null, writer: null },
};
const changed = [{ affected: '1' }];
const unchanged = [{ affected: '0' }];
const BEGUN: MysqlBegun = { id: 'id', writer: 'own', revision: 3 };
const row = newRow({ id: 'payout-1' });

/** A store over a double, in the database `shop`. */
function opened(...answers: Answers) {
  const asked = double([NAMED, ...answers]);
  return { ...asked, sql: mysqlStoreSql({ table: 'own_rows', scope: 'eu' }) };
}

describe('a store in MySQL', () => {
  it.each([
    ['own_rows', 'it`s.odd', '`it``s.odd`.`own_rows`'],
    ['own_rows', null, ' `own_rows`'],
    ['billing.own_rows', 'unused', '`billing`.`own_rows`'],
  ])('names the table %s in the database %s', async (table, name, expected) => {
    const { query, sent } = double([
      ['SELECT DATABASE()', [{ name }]],
      ['UTC_TIMESTAMP', [LINE]],
    ]);
    await mysqlStoreSql({ table, scope: 'eu' }).read(query, row);
    expect(sent().at(-1)).toContain(expected);
  });

  it('warns once of a server that may lose writes, and refuses the rows of a replica', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const careless = opened(['UTC_TIMESTAMP', [{ ...LINE, flush: '2' }]]);
    await careless.sql.read(careless.query, row);
    await careless.sql.list(careless.query, { kind: 'create', states: ['begun'] });
    expect(warn.mock.calls.map(([message]) => message)).toEqual([
      expect.stringMatching(/^mysqlStore: innodb_flush_log_at_trx_commit is not 1 /),
    ]);
    const replica = opened(['UTC_TIMESTAMP', [{ ...LINE, replica: '1' }]]);
    await expect(replica.sql.read(replica.query, row)).rejects.toThrow('it needs the primary');
    // A read without a row asks for the time alone.
    const empty = opened(['`own_rows`', []], ['UTC_TIMESTAMP', [{ ...LINE, replica: '1' }]]);
    await expect(empty.sql.owner(empty.query, 'id')).rejects.toThrow('it needs the primary');
  });

  it.each<[string, object]>([
    ['the time', { clock: undefined }],
    ['the revision', { revision: undefined }],
    ['the data as text', { data: {} }],
  ])('refuses an answer without %s', async (_, changes) => {
    const { sql, query } = opened(['UTC_TIMESTAMP', [{ ...LINE, ...changes }]]);
    for (const answer of [sql.read(query, row), sql.list(query, { kind: 'create', states: ['begun'] })]) {
      const error = await errorOf(answer);
      expect(error).toBeInstanceOf(ConfigurationError);
      expect((error as Error).message).toContain('must return rows as objects');
    }
  });

  it('reports a failure after a write without its code, which may mean that nothing was written', async () => {
    const gone = Object.assign(mysqlError(2006), { code: 'ECONNREFUSED' });
    const failing = () =>
      opened(['SELECT CAST', gone], ['INSERT', changed], ['UPDATE', changed], ['SET TRANSACTION', mysqlError(1568)]);
    for (const write of ['write', 'writeIn'] as const) {
      for (const revision of [0, 1]) {
        const { sql, query } = failing();
        const error = await errorOf(sql[write](query, { ...row, revision }));
        expect(error).toMatchObject({ message: 'ERROR 2006 (after a write)', cause: gone });
        expect(error).not.toHaveProperty('code');
      }
    }
  });
});

describe('an effect in MySQL', () => {
  it('refuses a database that begins no transaction, before it marks anything', async () => {
    const { sql, query, sent } = opened();
    await expect(sql.begin(query, { id: 'id', about: {}, reads: [] })).rejects.toThrow('outside a transaction');
    expect(sent()).toEqual(['SET TRANSACTION READ WRITE']);
  });

  it.each<[string, Answers, boolean]>([
    ['the savepoint exists', [], false],
    ['the savepoint is missing', [['ROLLBACK', mysqlError(1305)]], true],
    [
      'the savepoint is missing, and the last statement met a deadlock',
      [
        ['SHOW', [{ Code: 1213 }]],
        ['ROLLBACK', mysqlError(1305)],
      ],
      false,
    ],
    [
      'the savepoint is missing after a lock wait',
      [
        ['SHOW', [{ Code: 1205 }]],
        ['ROLLBACK', mysqlError(1305)],
      ],
      true,
    ],
    [
      'SHOW ERRORS fails, and the savepoint is missing',
      [
        ['SHOW', mysqlError(1064)],
        ['ROLLBACK', mysqlError(1305)],
      ],
      true,
    ],
    ['Prisma sends no more queries', [['ROLLBACK', Object.assign(new Error('closed'), { code: 'P2028' })]], true],
  ])('knows whether its transaction has ended if %s', async (_, answers, isEnded) => {
    const { sql, query } = opened(...answers);
    expect(await sql.isEnded(query, BEGUN)).toBe(isEnded);
  });

  it.each<[string, object | undefined, string | undefined]>([
    ['done', { writer: 'own', state: 'paid' }, 'done'],
    ['begun', { writer: 'own', state: 'begun' }, 'begun'],
    ['rolled back', { writer: 'before', revision: '2' }, undefined],
    ['rolled back, and another one ran', { writer: 'other', revision: '3' }, undefined],
    ['done, and another one ran after it', { writer: 'other', revision: '4' }, 'done'],
    ['rolled back in an empty table', undefined, undefined],
  ])('is found as committed: %s', async (_, changes, found) => {
    const { sql, query } = opened(['UTC_TIMESTAMP', changes ? [{ ...LINE, ...changes }] : []]);
    expect(await sql.find(query, BEGUN)).toBe(found);
    const inside = opened(['UTC_TIMESTAMP', [{ ...LINE, autocommit: 'open' }]]);
    await expect(inside.sql.find(inside.query, BEGUN)).rejects.toThrow(
      'released to the pool inside an open transaction',
    );
  });

  it('is kept as begun, unless the session would not commit it', async () => {
    const kept = (state: string) =>
      opened(
        ["SELECT CASE WHEN NOT @@session.autocommit THEN 'off'", [{ autocommit: 'on', found: '1' }]],
        ['UPDATE', unchanged],
        ['HEX(id)', [{ ...LINE, state }]],
      );
    const effect = { id: 'id', about: {}, reads: [] };
    const another = kept('begun');
    expect(await another.sql.markUncertain(another.query, effect, BEGUN)).toBeUndefined();
    const open = kept('paid');
    await expect(open.sql.markUncertain(open.query, effect, BEGUN)).rejects.toThrow(
      'released to the pool inside an open transaction',
    );
  });
});

describe('mysqlStore', () => {
  it('names itself in errors, and has its SQL for other tools', () => {
    const pool = { getConnection() {} } as never;
    expect(() => mysqlStore(pool, { scope: 'eu', tabel: 'a' } as never)).toThrow('mysqlStore');
    expect(() => mysqlStore(pool, {} as never)).toThrow('mysqlStore: scope is missing');
    expect(() => mysqlStore({} as never, { scope: 'eu' })).toThrow('mysqlStore takes a pool of mysql2');
    expect(mysqlStore(pool, { scope: 'eu', tablePrefix: 'shop.own' }).ddl()).toMatch(
      /^CREATE TABLE IF NOT EXISTS `shop`\.`own_rows` \([\s\S]*;\n[\s\S]*ALTER TABLE `shop`\.`own_rows` COMMENT = 'payment-gateway-sdk, version 1'/,
    );
    expect(mysqlStore(pool, { scope: 'eu' }).ddl()).toContain('`payment_gateway_rows`');
  });
});
