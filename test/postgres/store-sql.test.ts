// The answers of Postgres that a real server rarely gives: replicas, lost checks, and columns that other code renamed.
import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/errors.ts';
import { channelOf, postgresStoreSql } from '../../src/postgres/store-sql.ts';
import { newRow } from '../../src/testing/test-function.ts';
import { errorOf } from '../support/fixtures.ts';
import { double, sqlError } from '../support/sql-double.ts';

const IDENTITY: [string, object[]] = ['pg_identify_object', [{ name: 'public.payments' }]];
const open = (...answers: Parameters<typeof double>[0]) => {
  const { query, asked, sent } = double([IDENTITY as never, ...answers]);
  return { query, asked, sent, sql: postgresStoreSql({ table: 'payments', scope: 'eu' }) };
};
const ROW = newRow({ state: 'begun' });
const WRITTEN = { now: '5000', begun: '5000', due: null, xid: '77' };
const ASKED = ['SELECT txid_status($1::text::bigint) AS status', ['77']];
const EFFECT = { id: 'payment', about: {}, reads: [] };

describe('the SQL of a store in Postgres', () => {
  it('resolves its table once, and names it by its identity', async () => {
    const { sql, query, sent } = open(['LEFT JOIN', [{ now: '1', replica: 'false', revision: null }]]);
    for (const id of ['a', 'b']) await sql.read(query, { kind: 'create', id });
    await sql.owner(query, 'p');
    expect(sent().filter(text => text.includes('pg_identify_object'))).toHaveLength(1);
    expect(
      sent()
        .slice(1)
        .every(text => text.includes('LEFT JOIN public.payments ON')),
    ).toBe(true);
  });

  it('resolves it again after a failure', async () => {
    const failing = double([['pg_identify_object', sqlError('57P01'), IDENTITY[1] as never]]);
    const sql = postgresStoreSql({ table: 'payments', scope: 'eu' });
    await expect(sql.owner(failing.query, 'p')).rejects.toThrow('57P01');
    await expect(sql.owner(failing.query, 'p')).rejects.toThrow('must return rows as objects');
    expect(failing.sent().filter(text => text.includes('pg_identify_object'))).toHaveLength(2);
  });

  it('asks whether a begun create is committed, and only then', async () => {
    const answers: Parameters<typeof double>[0] = [
      ['INSERT', [WRITTEN]],
      ['UPDATE', [WRITTEN]],
    ];
    const committed = open(['txid_status', [{ status: 'committed' }]], ...answers);
    for (const revision of [0, 1]) {
      expect(await committed.sql.write(committed.query, { ...ROW, revision })).toMatchObject({ isWritten: true });
      expect(committed.asked.at(-1)).toEqual(ASKED);
    }
    const count = committed.asked.length;
    for (const other of [newRow({ state: 'freed' }), newRow({ kind: 'order' })]) {
      await committed.sql.write(committed.query, other);
    }
    expect(committed.asked).toHaveLength(count + 2);
    const left = open(['txid_status', [{ status: 'in progress' }]], ...answers);
    await expect(left.sql.write(left.query, ROW)).rejects.toThrow('released to the pool inside an open transaction');
    // The code of this error would say that nothing was written.
    const unreachable = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const gone = open(['txid_status', unreachable], ...answers);
    const error = await errorOf(gone.sql.write(gone.query, ROW));
    expect(error).toMatchObject({ message: 'connect ECONNREFUSED (after a write)', cause: unreachable });
    expect(error).not.toHaveProperty('code');
  });

  it('refuses the rows of a replica', async () => {
    const replica = { now: '1', replica: 'true', revision: null };
    const { sql, query } = open(['LEFT JOIN', [replica]]);
    for (const reading of [
      sql.read(query, ROW),
      sql.owner(query, 'p'),
      sql.list(query, { kind: 'create', states: ['begun'] }),
      sql.due({ query } as never, { kind: 'create', states: ['begun'] }, 1, 1),
    ]) {
      await expect(reading).rejects.toThrow('The store was read from a replica: it needs the primary.');
    }
  });

  it.each([
    ['renamed columns', [{ NOW: '1', OPEN: null, XID: '1', NAME: 'a' }]],
    ['no rows', []],
  ])('refuses %s', async (_, answer) => {
    const unnamed = double([['', answer]]);
    const fresh = postgresStoreSql({ table: 'payments', scope: 'eu' });
    const { sql, query } = open(['SELECT', answer], ['INSERT', answer], ['WITH', answer]);
    const begun = { id: 'payment', xid: '1', revision: '1' };
    for (const asking of [
      fresh.read(unnamed.query, ROW),
      sql.read(query, ROW),
      sql.list(query, { kind: 'create', states: ['begun'] }),
      sql.writeIn(query, ROW),
      sql.begin(query, EFFECT),
      sql.lock(query, begun, []),
    ]) {
      const error = await errorOf(asking);
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error).toHaveProperty('message', expect.stringContaining('must return rows as objects'));
    }
  });

  it.each([
    ['committed', 'false', 'done'],
    ['committed', 'true', 'begun'],
    // A nested transaction that was rolled back.
    ['committed', null, undefined],
    ['aborted', 'false', undefined],
    [null, null, undefined],
  ])('finds a mark whose transaction is %s: begun %s', async (status, begun, expected) => {
    const { sql, query } = open(['txid_status', [{ status, begun }]]);
    expect(await sql.find(query, { id: 'payment', xid: '77', revision: '1' })).toBe(expected);
  });

  it('notifies a channel whose name Postgres does not cut, the same for every spelling', () => {
    expect([channelOf('rows'), channelOf('shop.rows')]).toEqual(['rows', 'rows']);
    expect(channelOf(`shop.${'x'.repeat(63)}`)).toBe('x'.repeat(63));
  });
});
