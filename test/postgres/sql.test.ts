// What the stores send to Postgres, and what they make of its answers: over a double that answers as it is told.
import { ConfigurationError } from 'payment-gateway-sdk';
import { postgresInbox, postgresJournal } from 'payment-gateway-sdk/postgres';
import { describe, expect, it } from 'vitest';
import type { InboxEvent } from '../../src/inbox/contract.ts';
import { newRow } from '../../src/journal/row.ts';
import { inboxSql } from '../../src/postgres/inbox-sql.ts';
import { channelOf, journalSql } from '../../src/postgres/journal-sql.ts';
import { markCommitted } from '../../src/sql/committed.ts';
import type { SqlQuery } from '../../src/sql/database.ts';
import { errorOf, ID, PAYOUT } from '../support/fixtures.ts';
import { ATTEMPT, double, sqlError } from '../support/sql-double.ts';

const event: InboxEvent = { paymentId: ID, status: 'COMPLETED', final: true };
const BEGUN = { xid: '77', name: 'shop.marks' };
const RENAMED = /must answer rows as objects, with the columns that the statement names/;

/** What is asked of a write that was not told to be in a transaction of anybody's, and the answer. */
const ASKED = ['SELECT txid_status($1::text::bigint) AS status', ['77']];
const COMMITTED: Parameters<typeof double>[0][number] = ['txid_status', [{ status: 'committed' }]];

describe('an inbox in Postgres', () => {
  const sql = inboxSql('marks');

  it('refuses a transaction that is none, and lets other errors pass', async () => {
    const own = double([]);
    await sql.open(own.query);
    expect(own.asked).toEqual([['SAVEPOINT payment_gateway_inbox']]);
    const outside = await errorOf(sql.open(double([['SAVEPOINT', sqlError('25P01')]]).query));
    expect(outside).toBeInstanceOf(ConfigurationError);
    expect((outside as Error).message).toMatch(/ran its query outside a transaction/);
    const gone = sqlError('57P01');
    expect(await errorOf(sql.open(double([['SAVEPOINT', gone]]).query))).toBe(gone);
  });

  it('locks the payment of its own table', async () => {
    const locked = double([['SELECT', [{ locked: 'true', isolation: 'read committed' }]]]);
    expect(await sql.lock(locked.query, event)).toBe(true);
    await inboxSql('other').lock(locked.query, event);
    const [[, [one] = []] = [], [, [other] = []] = []] = locked.asked;
    expect([one, other]).toEqual([expect.stringMatching(/^-?\d+$/), expect.stringMatching(/^-?\d+$/)]);
    expect(one).not.toBe(other);
    const busy = double([['SELECT', [{ locked: 'false', isolation: 'read committed' }]]]);
    expect(await sql.lock(busy.query, event)).toBeUndefined();
  });

  it.each<[string, object[], RegExp]>([
    ['of another isolation', [{ locked: 'true', isolation: 'repeatable read' }], /must begin at READ COMMITTED/],
    ['without its columns', [{ LOCKED: 'true', ISOLATION: 'read committed' }], RENAMED],
    ['of nothing', [], RENAMED],
  ])('refuses an answer %s', async (_, rows, message) => {
    const error = await errorOf(sql.lock(double([['SELECT', rows as never]]).query, event));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as Error).message).toMatch(message);
  });

  it('reads marks, which are text', async () => {
    const { query, asked } = double([
      [
        'SELECT',
        [
          { status: 'PENDING', final: 'false', begun: 'false' },
          { status: 'COMPLETED', final: 'true', begun: 'true' },
        ],
      ],
    ]);
    expect(await sql.marks(query, event, true)).toEqual([
      { status: 'PENDING', final: false },
      { status: 'COMPLETED', final: true, begun: true },
    ]);
    expect(asked).toEqual([[expect.stringMatching(/FROM "marks" WHERE payment_id = \$1/), [ID]]]);
  });

  it('begins a mark, and completes it in its own transaction only', async () => {
    const beginning = double([['INSERT', [BEGUN]]]);
    expect(await sql.begin(beginning.query, event, true)).toEqual(BEGUN);
    expect(beginning.asked[0]?.[1]).toEqual([ID, 'COMPLETED', 'true']);
    const own = double([['UPDATE', [{ status: 'COMPLETED' }]]]);
    expect(await sql.complete(own.query, event, BEGUN)).toBe(true);
    expect(own.asked).toEqual([
      [expect.stringMatching(/^UPDATE shop\.marks .* txid_current\(\)::text = \$3/), [ID, 'COMPLETED', '77']],
    ]);
    expect(await sql.complete(double([]).query, event, BEGUN)).toBe(false);
  });

  it('reports an SQL error that onPayment has ignored', async () => {
    const failed = sqlError('25P02');
    const completing = (error: Error) => errorOf(sql.complete(double([['UPDATE', error]]).query, event, BEGUN));
    expect(await completing(failed)).toMatchObject({
      message: expect.stringMatching(/^onPayment ignored an SQL error, .* SAVEPOINT/),
      cause: failed,
    });
    const gone = sqlError('57P01');
    expect(await completing(gone)).toBe(gone);
  });

  it('knows by its savepoint whether something else has ended its transaction', async () => {
    const own = double([]);
    expect(await sql.isEnded(own.query)).toBe(false);
    expect(own.sent()).toEqual(['ROLLBACK TO SAVEPOINT payment_gateway_inbox']);
    for (const code of ['3B001', '25P01'])
      expect(await sql.isEnded(double([['ROLLBACK', sqlError(code)]]).query)).toBe(true);
    expect(await sql.isEnded(double([['ROLLBACK', sqlError('25P02')]]).query)).toBe(false);
  });

  it('finds the mark as it is committed, and keeps one that may be lost', async () => {
    const find = (...rows: object[]) => sql.find(double([['SELECT', rows as never]]).query, event, BEGUN);
    expect(await find({ begun: 'false', xid: null })).toBe('done');
    expect(await find({ begun: 'true', xid: null })).toBe('begun');
    expect(await find()).toBeUndefined();
    await expect(find({ begun: 'false', xid: '77' })).rejects.toThrow('began and did not end');
    const { query, asked } = double([]);
    await sql.keep(query, event, BEGUN);
    expect(asked).toEqual([
      [expect.stringMatching(/^INSERT INTO shop\.marks .* ON CONFLICT DO NOTHING/), [ID, 'COMPLETED', 'true']],
    ]);
  });

  it.each<['done' | 'again', RegExp]>([
    ['done', /^UPDATE "marks" SET handled_at = .* AND handled_at IS NULL RETURNING /],
    ['again', /^DELETE FROM "marks" .* AND handled_at IS NULL RETURNING /],
  ])('is told that an effect is %s', async (resolution, statement) => {
    const { query, asked } = double([['"marks"', [{ xid: '77' }]], COMMITTED]);
    expect(await sql.resolve(query, ID, 'COMPLETED', resolution)).toBe(true);
    expect(asked).toEqual([[expect.stringMatching(statement), [ID, 'COMPLETED']], ASKED]);
    expect(await sql.resolve(double([]).query, ID, 'COMPLETED', resolution)).toBe(false);
  });

  it.each([['in progress'], ['aborted'], [undefined]])(
    'takes for written only what is committed, and not what is %s',
    async status => {
      const open = () =>
        double([
          ['txid_status', status ? [{ status }] : []],
          ['marks', [{ xid: '77' }]],
        ]).query;
      for (const write of [sql.keep(open(), event, BEGUN), sql.resolve(open(), ID, 'COMPLETED', 'done')]) {
        const error = await errorOf(Promise.resolve(write));
        expect(error).toBeInstanceOf(ConfigurationError);
        expect(error).toHaveProperty('message', expect.stringContaining('that somebody began and did not end'));
      }
    },
  );

  it('locks nothing in a transaction in which somebody has written', async () => {
    const lock = (xid: string | null) => {
      const answer = { locked: 'true', isolation: 'read committed', xid };
      return sql.lock(double([['pg_try_advisory', [answer]]]).query, event);
    };
    expect(await lock(null)).toBe(true);
    await expect(lock('77')).rejects.toThrow('that somebody began and did not end');
  });
});

describe('a journal in Postgres', () => {
  it('takes for written what is committed, where it is to be sent after that', async () => {
    const sql = journalSql('doubts', true);
    const begun = newRow(ATTEMPT, 1_000);
    const answers: Parameters<typeof double>[0] = [
      ['INSERT', [{ now: '5000', due: null, id: '77' }]],
      ['UPDATE', [{ now: '5000', id: '77' }]],
    ];
    const committed = double([COMMITTED, ...answers]);
    await sql.insert(committed.query, begun);
    await sql.replace(committed.query, begun, 3);
    expect([committed.asked[1], committed.asked[3]]).toEqual([ASKED, ASKED]);
    const open = double([['txid_status', [{ status: 'in progress' }]], ...answers]);
    for (const write of [sql.insert(open.query, begun), sql.replace(open.query, begun, 3)])
      await expect(write).rejects.toThrow('that somebody began and did not end');
    // Whose code would say that nothing was written.
    const unreachable = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const gone = double([['txid_status', unreachable], ...answers]);
    for (const write of [sql.insert(gone.query, begun), sql.replace(gone.query, begun, 3)]) {
      const error = await errorOf(write);
      expect(error).toMatchObject({ message: 'connect ECONNREFUSED (after a write)', cause: unreachable });
      expect(error).not.toHaveProperty('code');
    }
    // If that is lost, the reference is in doubt.
    const freed = double(answers);
    await sql.replace(freed.query, { ...begun, state: 'freed' }, 3);
    expect(freed.asked).toHaveLength(1);
  });

  const LINE = { now: '5000', replica: 'false' };
  const FOUND = {
    ...LINE,
    ...{ scope: 'eu', reference: 'payout-1', state: 'begun', revision: '3', begun: '1000', due: '7000', leased: null },
    details: '{"amount":"5"}',
  };
  const ROW = {
    scope: 'eu',
    reference: 'payout-1',
    state: 'begun',
    revision: 3,
    begunAt: 1_000,
    dueAt: 7_000,
    amount: '5',
  };
  const row = newRow(ATTEMPT, 1_000);
  const sql = journalSql('doubts', true);

  it('reads a row with the time, and the time alone where there is none', async () => {
    expect(await sql.read(double([['SELECT', [FOUND]]]).query, row)).toEqual({ row: ROW, now: 5_000 });
    const none = double([
      ['doubts', []],
      ['SELECT', [LINE]],
    ]);
    expect(await sql.read(none.query, row)).toEqual({ row: undefined, now: 5_000 });
    expect(none.asked.map(([, values]) => values)).toEqual([['eu', 'payout-1'], undefined]);
  });

  it('refuses a replica, and an answer without its columns', async () => {
    const replica = double([['SELECT', [{ ...FOUND, replica: 'true' }]]]);
    await expect(sql.read(replica.query, row)).rejects.toThrow(
      'The journal was read from a replica: it needs the primary.',
    );
    const renamed = double([['SELECT', [{ NOW: '5000', REPLICA: 'true' }]]]);
    const silent = double([]);
    for (const work of [
      sql.read(renamed.query, row),
      sql.list(renamed.query, { scope: 'eu', states: ['begun'] }),
      sql.list(silent.query, { scope: 'eu', states: ['begun'] }),
      sql.read(silent.query, row),
      sql.replace(silent.query, row, 3),
      sql.insertIn(silent.query, row),
    ]) {
      const error = await errorOf(work);
      expect(error).toBeInstanceOf(ConfigurationError);
      expect((error as Error).message).toMatch(RENAMED);
    }
  });

  it('lists rows of a scope, or of all', async () => {
    const { query, asked } = double([['SELECT', [FOUND, { ...LINE, revision: null }]]]);
    expect(await sql.list(query, { scope: 'eu', states: ['begun', 'planned'] })).toEqual({ rows: [ROW], now: 5_000 });
    await sql.list(query, { scope: undefined, states: ['begun'] });
    expect(asked).toEqual([
      [expect.stringMatching(/WHERE state IN \('begun', 'planned'\) AND scope = \$1::text\)/), ['eu']],
      [expect.stringMatching(/WHERE state IN \('begun'\)\)/), []],
    ]);
  });

  it('claims in seconds, of a scope or of all', async () => {
    const { query, asked } = double([['WITH', [{ ...LINE, revision: null }]]]);
    const db = { query } as never;
    expect(await sql.claim(db, { scope: 'eu', states: ['begun'], olderThan: 1_500 }, 9, 60_000)).toEqual({
      rows: [],
      now: 5_000,
    });
    await sql.claim(db, { scope: undefined, states: ['planned'] }, 1, 250);
    expect(asked).toEqual([
      [expect.stringMatching(/state IN \('begun'\) AND scope = \$4::text AND due_at/), ['9', '60', '1.5', 'eu']],
      [expect.stringMatching(/state IN \('planned'\) AND due_at/), ['1', '0.25', '0']],
    ]);
  });

  it('inserts what it would read, with the times of the database', async () => {
    const due = { ...row, dueAt: 1, leasedUntil: 9 };
    const { query, asked } = double([['INSERT', [{ now: '5000', due: '6000', id: '77' }]], COMMITTED]);
    expect(await sql.insert(query, due)).toEqual({ ...due, revision: 1, begunAt: 5_000, dueAt: 6_000 });
    expect(asked[0]?.[0]).toMatch(
      /^INSERT INTO "doubts" \(scope, reference, state, revision, begun_at, due_at, leased_until, details\) VALUES/,
    );
    const [scope, reference, state, dueAt, leasedUntil, details] = asked[0]?.[1] ?? [];
    expect([scope, reference, state, dueAt, leasedUntil]).toEqual(['eu', 'payout-1', 'begun', '1', '9']);
    expect(JSON.parse(String(details))).toMatchObject({ amount: '5', attemptId: 'attempt', bodyHash: 'hash' });
    expect(Object.keys(JSON.parse(String(details)))).not.toEqual(expect.arrayContaining(['scope']));
    const never = double([['INSERT', [{ now: '5000', due: null }]], COMMITTED]);
    expect(await sql.insert(never.query, row)).toEqual({ ...row, revision: 1, begunAt: 5_000 });
    expect(never.asked[0]?.[1]?.slice(3, 5)).toEqual([null, null]);
    expect(await sql.insert(double([]).query, row)).toBeUndefined();
  });

  it('asks whether a begun row is committed only where the driver has not told', async () => {
    const { query, asked } = double([
      ['INSERT', [{ now: '5000', due: null, id: '77' }]],
      ['UPDATE', [{ now: '5000', id: '77' }]],
    ]);
    const telling: SqlQuery = async (...statement) => markCommitted(await query(...statement));
    expect(await sql.insert(telling, row)).toMatchObject({ begunAt: 5_000 });
    expect(await sql.replace(telling, row, 1)).toEqual({ isReplaced: true, now: 5_000 });
    expect(asked.map(([text]) => text.slice(0, 6))).toEqual(['INSERT', 'UPDATE']);
  });

  describe('in a merchant’s transaction', () => {
    const WRITTEN = { now: '5000', due: '6000', revision: '1', tried: 'false' };

    it('marks the transaction as open, writes only then, and notifies the channel if it should', async () => {
      const { query, asked } = double([['INSERT', [WRITTEN]]]);
      const written = { ...row, revision: 1, begunAt: 5_000, dueAt: 6_000 };
      expect(await sql.insertIn(query, row)).toEqual({ row: written, isInserted: true, now: 5_000 });
      await journalSql('doubts', false).insertIn(query, row);
      const details = expect.any(String);
      expect(asked.map(([, values]) => values)).toEqual([
        undefined,
        ['eu', 'payout-1', 'begun', null, null, details, 'doubts'],
        undefined,
        ['eu', 'payout-1', 'begun', null, null, details],
      ]);
    });

    it('answers what it keeps of a freed reference that it has written over', async () => {
      const { query } = double([['INSERT', [{ ...WRITTEN, due: null, revision: '4', tried: 'true' }]]]);
      expect(await sql.insertIn(query, row)).toEqual({
        row: { ...row, revision: 4, begunAt: 5_000, isRetry: true },
        isInserted: true,
        now: 5_000,
      });
    });

    it.each([
      ['the row', FOUND, ROW],
      ['none', { ...LINE, revision: null }, undefined],
    ])('reads %s where it has written nothing, in an open transaction', async (_, line, found) => {
      const { query, asked } = double([['FROM (SELECT 1) AS always', [{ ...line, open: 'true' }]]]);
      expect(await sql.insertIn(query, row)).toEqual({ row: found, isInserted: false, now: 5_000 });
      expect(asked[2]?.[1]).toEqual(['eu', 'payout-1']);
    });

    it.each(['false', undefined])('answers nothing outside a transaction: %s', async open => {
      const { query } = double([['FROM (SELECT 1) AS always', [{ ...FOUND, open }]]]);
      expect(await sql.insertIn(query, row)).toBeUndefined();
    });

    it('fails with the first of its statements that does', async () => {
      const aborted = sqlError('25P02');
      const { query } = double([
        ['set_config(', aborted],
        ['INSERT', sqlError('25P02')],
      ]);
      expect(await errorOf(sql.insertIn(query, row))).toBe(aborted);
    });
  });

  it('says of a replace whether it has changed anything', async () => {
    const outside = double([
      ['UPDATE', []],
      ['SELECT', [LINE]],
    ]);
    expect(await sql.replace(outside.query, row, 3)).toEqual({ isReplaced: false, now: 5_000 });
    expect(outside.asked[0]?.[1]).toHaveLength(8);
    const replaced = double([['UPDATE', [{ now: '5000', id: '77' }]], COMMITTED]);
    expect(await sql.replace(replaced.query, row, 3)).toEqual({ isReplaced: true, now: 5_000 });
  });

  it('has a channel whose name Postgres does not cut', () => {
    expect(channelOf('doubts')).toBe('doubts');
    expect(channelOf(`shop.${'x'.repeat(62)}`)).toBe(`.${'x'.repeat(62)}`);
  });
});

describe('the stores of Postgres', () => {
  const pool = { connect() {}, query() {} } as never;

  it('postgresJournal names itself to who plans without a scope', async () => {
    const answers = double([]);
    const database = { dialect: 'postgres', query() {}, transaction() {}, queryIn: () => answers.query };
    const planning = postgresJournal(database as never).plan({} as never, {
      ...PAYOUT,
      paymentType: 'WITHDRAWAL',
      reference: 'a',
    });
    expect(await errorOf(planning)).toMatchObject({ message: expect.stringContaining('postgresJournal(…, { scope:') });
  });

  it.each<[string, (options: object) => { ddl(): string }, string]>([
    ['postgresInbox', options => postgresInbox(pool, options), 'payment_gateway_inbox'],
    ['postgresJournal', options => postgresJournal(pool, options), 'payment_gateway_journal'],
  ])('%s names itself in errors, and has its SQL for other tools', (name, open, table) => {
    expect(() => open({ tabel: 'a' })).toThrow(name);
    expect(open({ table: 'shop.own' }).ddl()).toMatch(
      /^CREATE TABLE IF NOT EXISTS "shop"\."own" \([\s\S]*COMMENT ON TABLE "shop"\."own" IS 'payment-gateway-sdk, version \d'/,
    );
    expect(open({}).ddl()).toContain(`"${table}"`);
  });
});
