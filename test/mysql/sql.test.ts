// What the stores send to MySQL, and what they make of its answers: over a double that answers as it is told.
import { ConfigurationError, InvalidRequestError } from 'payment-gateway-sdk';
import { mysqlInbox, mysqlJournal } from 'payment-gateway-sdk/mysql';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { InboxEvent, Mark } from '../../src/inbox/contract.ts';
import { newRow } from '../../src/journal/row.ts';
import { inboxSql } from '../../src/mysql/inbox-sql.ts';
import { journalSql } from '../../src/mysql/journal-sql.ts';
import { errorOf, ID } from '../support/fixtures.ts';
import { ATTEMPT, double } from '../support/sql-double.ts';

afterEach(() => vi.restoreAllMocks());

const hexOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('hex');
const rowsWith = (marks: readonly Mark[]) => [{ marks: JSON.stringify(marks), name: 'shop' }];
const mysqlError = (errno: number) => Object.assign(new Error(`ERROR ${errno}`), { errno });

const changed = [{ affected: '1' }];
const unchanged = [{ affected: '0' }];
const PENDING: Mark = { status: 'PENDING', final: false };
const BEGUN: Mark = { status: 'COMPLETED', final: true, begun: true };
const DONE: Mark = { status: 'COMPLETED', final: true };
const event: InboxEvent = { paymentId: ID, status: 'COMPLETED', final: true };
const LOCKED = { name: '`shop`.`marks`', marks: [PENDING] };

describe('an inbox in MySQL', () => {
  const sql = inboxSql('marks');

  it('makes the row of a payment, unless it is there', async () => {
    const found = double([['SELECT CASE', [{ autocommit: 'on', found: '1' }]]]);
    await sql.prepare?.(found.query, event);
    expect(found.asked).toEqual([[expect.stringMatching(/EXISTS .*`marks`/), [ID]]]);
    for (const answer of [[{ autocommit: 'on', found: '0' }], []]) {
      const missing = double([
        ['SELECT CASE', answer],
        ['INSERT', changed],
      ]);
      await sql.prepare?.(missing.query, { ...event, paymentId: ID.toUpperCase() });
      expect(missing.asked.map(([, values]) => values)).toEqual([[ID], [ID]]);
    }
    const off = double([['SELECT CASE', [{ autocommit: 'off', found: '0' }]]]);
    await expect(sql.prepare?.(off.query, event)).rejects.toThrow('autocommit = 0');
    expect(off.asked).toHaveLength(1);
  });

  it.each([`x${ID}`, `${ID}x`, ` ${ID}`, 'order-1', ''])('takes no row for the id "%s"', async paymentId => {
    const { query, asked } = double([]);
    for (const work of [
      () => sql.prepare?.(query, { ...event, paymentId }),
      () => sql.resolve(query, paymentId, 'a', 'done'),
    ]) {
      const error = await errorOf((async () => work())());
      expect(error).toBeInstanceOf(InvalidRequestError);
      expect(error).toMatchObject({
        issues: [{ path: 'paymentId', message: "must be the gateway's id of the payment, a UUID" }],
      });
    }
    expect(asked).toEqual([]);
  });

  it('locks the row, and keeps the name of its table with its database', async () => {
    expect(await sql.lock(double([['FOR UPDATE', rowsWith([PENDING])]]).query, event)).toEqual(LOCKED);
    const named = double([['FOR UPDATE', rowsWith([])]]);
    expect(await inboxSql('other.marks').lock(named.query, event)).toEqual({ name: '`other`.`marks`', marks: [] });
    expect(named.asked).toEqual([
      [expect.stringMatching(/`other`\.`marks` WHERE payment_id = \? FOR UPDATE SKIP LOCKED$/), [ID]],
    ]);
    expect(await sql.lock(double([]).query, event)).toBeUndefined();
    const error = await errorOf(sql.lock(double([['FOR UPDATE', [{ MARKS: '[]' }]]]).query, event));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as Error).message).toMatch(/must answer rows as objects, with the columns that the statement names/);
  });

  it('begins a mark beside the others, and says that something is in doubt', async () => {
    const { query, asked } = double([['UPDATE', changed]]);
    const begun = await sql.begin(query, event, LOCKED);
    expect(begun).toEqual({ ...LOCKED, marks: [PENDING, BEGUN] });
    expect(asked).toEqual([
      [
        expect.stringMatching(/^UPDATE `shop`\.`marks` SET marks = UNHEX\(\?\), in_doubt = \? = 'true'/),
        [hexOf([PENDING, BEGUN]), 'true', ID],
      ],
    ]);
  });

  it('completes the mark in its own transaction, and in no other', async () => {
    const begun = { ...LOCKED, marks: [PENDING, BEGUN, { ...BEGUN, status: 'X' }] };
    const own = double([['UPDATE', changed]]);
    expect(await sql.complete(own.query, event, begun)).toBe(true);
    expect(own.asked).toEqual([
      ['RELEASE SAVEPOINT payment_gateway_inbox'],
      [
        expect.stringMatching(/^UPDATE `shop`\.`marks`/),
        [hexOf([PENDING, DONE, { ...BEGUN, status: 'X' }]), 'true', ID],
      ],
    ]);
    const settled = double([['UPDATE', unchanged]]);
    expect(await sql.complete(settled.query, event, { ...LOCKED, marks: [PENDING, BEGUN] })).toBe(false);
    expect(settled.asked.at(-1)?.[1]).toEqual([hexOf([PENDING, DONE]), 'false', ID]);
    const other = double([['RELEASE', mysqlError(1305)]]);
    expect(await sql.complete(other.query, event, begun)).toBe(false);
    expect(other.asked).toHaveLength(1);
  });

  it.each<[string, Parameters<typeof double>[0], boolean]>([
    ['the savepoint is there', [], false],
    ['the savepoint is gone', [['ROLLBACK', mysqlError(1305)]], true],
    [
      'the savepoint is gone with a deadlock, the last statement',
      [
        ['SHOW', [{ Code: 1213 }]],
        ['ROLLBACK', mysqlError(1305)],
      ],
      false,
    ],
    [
      'the savepoint is gone after a lock wait',
      [
        ['SHOW', [{ Code: 1205 }]],
        ['ROLLBACK', mysqlError(1305)],
      ],
      true,
    ],
    [
      'SHOW ERRORS fails, and the savepoint is gone',
      [
        ['SHOW', mysqlError(1064)],
        ['ROLLBACK', mysqlError(1305)],
      ],
      true,
    ],
    ['Prisma asks no more', [['ROLLBACK', Object.assign(new Error('closed'), { code: 'P2028' })]], true],
  ])('knows whether its transaction has ended and may have left a part, where %s', async (_, answers, isEnded) => {
    expect(await sql.isEnded(double(answers).query)).toBe(isEnded);
  });

  it('does not know it of a connection that is gone', async () => {
    const gone = mysqlError(2006);
    expect(await errorOf(sql.isEnded(double([['ROLLBACK', gone]]).query))).toBe(gone);
  });

  it.each<[string, readonly Mark[], string | undefined]>([
    ['done', [PENDING, DONE], 'done'],
    ['begun', [PENDING, BEGUN], 'begun'],
    ['of another status', [PENDING, { ...DONE, status: 'FAILED' }], undefined],
  ])('finds the mark as it is committed: %s', async (_, marks, found) => {
    expect(await sql.find(double([['SELECT', rowsWith(marks)]]).query, event, LOCKED)).toBe(found);
    expect(await sql.find(double([]).query, event, LOCKED)).toBeUndefined();
    const [line] = rowsWith(marks);
    const open = double([['SELECT', [{ ...line, autocommit: 'open' }]]]);
    await expect(sql.find(open.query, event, LOCKED)).rejects.toThrow('began and did not end');
  });

  describe('keeps a mark that may be lost', () => {
    it('as begun, beside the others', async () => {
      const { query, asked } = double([
        ['INSERT', mysqlError(1062)],
        ['SELECT', rowsWith([PENDING])],
        ['UPDATE', changed],
      ]);
      await sql.keep(query, event, LOCKED);
      expect(asked.map(([, values]) => values)).toEqual([
        [ID],
        [ID],
        [hexOf([PENDING, BEGUN]), 'true', ID, hexOf([PENDING])],
      ]);
      expect(asked[2]?.[0]).toMatch(/ AND marks = UNHEX\(\?\) AND @@session.autocommit /);
    });

    it('also in a table that has no row of it', async () => {
      const { query, asked } = double([
        ['INSERT', changed],
        ['UPDATE', changed],
      ]);
      await sql.keep(query, event, LOCKED);
      expect(asked.at(-1)?.[1]).toEqual([hexOf([BEGUN]), 'true', ID, hexOf([])]);
    });

    it('again, if somebody else has changed the marks meanwhile', async () => {
      const { query, sent } = double([
        ['INSERT', changed],
        ['SELECT', rowsWith([]), rowsWith([PENDING])],
        ['UPDATE', unchanged, changed],
      ]);
      await sql.keep(query, event, LOCKED);
      const once = ['SELECT', 'UPDATE'];
      expect(sent().map(text => text.split(' ')[0])).toEqual(['INSERT', ...once, 'SELECT', ...once]);
    });

    it('not where nothing would be committed, because somebody had left a transaction open', async () => {
      const { query } = double([
        ['INSERT', changed],
        ['SELECT', rowsWith([PENDING])],
        ['UPDATE', unchanged],
      ]);
      await expect(sql.keep(query, event, LOCKED)).rejects.toThrow('began and did not end');
      await expect(sql.keep(double([['INSERT', unchanged]]).query, event, LOCKED)).rejects.toThrow('did not end');
    });

    it('not, if it is there', async () => {
      const { query, sent } = double([
        ['INSERT', changed],
        ['SELECT', rowsWith([PENDING, DONE])],
      ]);
      await sql.keep(query, event, LOCKED);
      expect(sent()).toHaveLength(2);
    });
  });

  describe('is told what became of an effect', () => {
    const others: Mark[] = [PENDING, { ...BEGUN, status: 'X' }];

    it.each<['done' | 'again', readonly Mark[], string]>([
      ['done', [...others, DONE], 'true'],
      ['again', others, 'true'],
    ])('%s', async (resolution, marks, inDoubt) => {
      const before = [...others, BEGUN];
      const { query, asked } = double([
        ['SELECT', rowsWith([BEGUN]), rowsWith(before)],
        ['UPDATE', unchanged, changed],
      ]);
      expect(await sql.resolve(query, ID.toUpperCase(), 'COMPLETED', resolution)).toBe(true);
      expect(asked.map(([text]) => text.split(' ')[0])).toEqual(['SELECT', 'UPDATE', 'SELECT', 'SELECT', 'UPDATE']);
      expect(asked.at(-1)?.[1]).toEqual([hexOf(marks), inDoubt, ID, hexOf(before)]);
    });

    it('and nothing is in doubt any more', async () => {
      const { query, asked } = double([
        ['SELECT', rowsWith([BEGUN])],
        ['UPDATE', changed],
      ]);
      await sql.resolve(query, ID, 'COMPLETED', 'done');
      expect(asked.at(-1)?.[1]?.[1]).toBe('false');
    });

    it.each<[string, readonly Mark[]]>([
      ['is done', [DONE]],
      ['is not there', []],
      ['is of another status', [{ ...BEGUN, status: 'FAILED' }, DONE]],
    ])('where its mark %s', async (_, marks) => {
      const { query, sent } = double([['SELECT', rowsWith(marks)]]);
      expect(await sql.resolve(query, ID, 'COMPLETED', 'done')).toBe(false);
      expect(sent()).toHaveLength(1);
    });
  });
});

describe('a journal in MySQL', () => {
  const LINE = { autocommit: 'on', replica: '0', flush: '1', clock: '5000' };
  const row = newRow(ATTEMPT, 1_000);
  const hex = (text: string) => Buffer.from(text).toString('hex');
  const KEY = [hex('eu'), hex('payout-1')];
  const lineOf = (reference: string, due: number | null = null) => ({
    ...LINE,
    ...{ scope: hex('eu'), reference: hex(reference), state: 'begun', revision: '3', begun: '1000' },
    ...{ due: due === null ? null : String(due), leased: null, details: '{"amount":"5"}' },
  });

  it('tells of a replica, and of a server that may lose what it has written, once', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const careless = double([['SELECT', [{ ...lineOf('payout-1'), flush: '2' }]]]);
    const sql = journalSql('doubts');
    await sql.list(careless.query, { scope: undefined, states: ['begun'] });
    await sql.read(
      double([
        ['doubts', []],
        ['SELECT', [{ ...LINE, flush: '2' }]],
      ]).query,
      row,
    );
    expect(warn.mock.calls).toEqual([
      [
        expect.stringMatching(/^mysqlJournal: innodb_flush_log_at_trx_commit is not 1 .* Set it to 1/),
        expect.anything(),
      ],
    ]);
    const durable = journalSql('doubts');
    await durable.read(
      double([
        ['doubts', []],
        ['SELECT', [LINE]],
      ]).query,
      row,
    );
    expect(warn).toHaveBeenCalledOnce();
    const replica = double([
      ['doubts', []],
      ['SELECT', [{ ...LINE, replica: '1' }]],
    ]);
    await expect(durable.read(replica.query, row)).rejects.toThrow(
      'The journal was read from a replica: it needs the primary.',
    );
  });

  it('refuses an answer without its columns, before it has leased anything', async () => {
    const { query, asked } = double([['FORCE INDEX', [lineOf('payout-1', 1)]]]);
    const db = { transaction: (work: (tx: unknown) => unknown) => work({}), queryIn: () => query } as never;
    const which = { scope: 'eu', states: ['begun'] } as const;
    for (const error of [
      await errorOf(journalSql('doubts').claim(db, which, 1, 60_000)),
      await errorOf(journalSql('doubts').list(query, { scope: 'eu', states: ['planned'] })),
      await errorOf(journalSql('doubts').read(query, row)),
    ]) {
      expect(error).toBeInstanceOf(ConfigurationError);
      expect((error as Error).message).toMatch(/must answer rows as objects/);
    }
    expect(asked.filter(([text]) => text.startsWith('UPDATE'))).toEqual([]);
  });

  it('reads a row with the clock, and the clock alone where there is none', async () => {
    const there = double([['SELECT', [lineOf('payout-1', 7_000)]]]);
    expect(await journalSql('doubts').read(there.query, row)).toEqual({
      now: 5_000,
      row: {
        scope: 'eu',
        reference: 'payout-1',
        state: 'begun',
        revision: 3,
        begunAt: 1_000,
        dueAt: 7_000,
        amount: '5',
      },
    });
    expect(there.asked).toEqual([
      [
        expect.stringMatching(
          /FROM `doubts` AS entry WHERE entry.scope = UNHEX\(\?\) AND entry.reference = UNHEX\(\?\)$/,
        ),
        KEY,
      ],
    ]);
  });

  it.each<[string, string, boolean]>([
    ['was changed by somebody else', '4', true],
    ['is as it was, because nothing would be committed', '3', false],
  ])('says of a replace that changed nothing whether the row %s', async (_, revision, isOther) => {
    const { query } = double([
      ['UPDATE', unchanged],
      ['SELECT', [{ ...lineOf('payout-1'), revision }]],
    ]);
    const replacing = journalSql('doubts').replace(query, row, 3);
    if (isOther) expect(await replacing).toEqual({ isReplaced: false, now: 5_000 });
    else await expect(replacing).rejects.toThrow('that somebody began and did not end');
  });

  it('inserts nothing that would not be committed', async () => {
    const { query, sent } = double([['INSERT', unchanged]]);
    await expect(journalSql('doubts').insert(query, row)).rejects.toThrow('that somebody began and did not end');
    expect(sent()[0]).toMatch(/ WHERE @@session.autocommit \/\*M! AND NOT @@session.in_transaction \*\/$/);
  });

  it('says of a failure after a write that it came after it', async () => {
    const gone = Object.assign(mysqlError(2006), { code: 'ECONNREFUSED' });
    const failing = double([
      ['INSERT', changed],
      ['UPDATE', changed],
      ['SELECT', gone],
    ]);
    for (const work of [
      journalSql('doubts').insert(failing.query, row),
      journalSql('doubts').replace(failing.query, row, 1),
    ]) {
      const error = await errorOf(work);
      expect(error).toMatchObject({ message: 'ERROR 2006 (after a write)', cause: gone });
      expect(error).not.toHaveProperty('code');
    }
  });

  it('claims what is due in all its states, the longest due first, and no more than it was asked for', async () => {
    const { query, asked } = double([
      [
        'WHERE state = ?',
        [lineOf('late', 9), lineOf('later', 12), lineOf('none')],
        [lineOf('first', 3), lineOf('next', 10)],
      ],
      ['SELECT', [LINE]],
      ['UPDATE', changed],
    ]);
    const db = { transaction: (work: (tx: unknown) => unknown) => work({}), queryIn: () => query } as never;
    const claimed = await journalSql('doubts').claim(
      db,
      { scope: 'eu', states: ['planned', 'begun'], olderThan: 7 },
      4,
      60_000,
    );
    expect(claimed.now).toBe(5_000);
    expect(claimed.rows.map(({ reference, leasedUntil, revision }) => [reference, leasedUntil, revision])).toEqual(
      ['none', 'first', 'late', 'next'].map(reference => [reference, 65_000, 4]),
    );
    expect(asked.map(([, values]) => values)).toEqual([
      ['planned', hex('eu'), '7'],
      ['begun', hex('eu'), '7'],
      undefined,
      ['65000', ...['none', 'first', 'late', 'next'].flatMap(reference => [hex('eu'), hex(reference)])],
    ]);
    const everywhere = double([
      ['WHERE state = ?', []],
      ['SELECT', [LINE]],
    ]);
    const inAll = {
      transaction: (work: (tx: unknown) => unknown) => work({}),
      queryIn: () => everywhere.query,
    } as never;
    expect(await journalSql('doubts').claim(inAll, { scope: undefined, states: ['begun'] }, 4, 1)).toEqual({
      rows: [],
      now: 5_000,
    });
    expect(everywhere.asked.map(([, values]) => values)).toEqual([['begun', '0'], undefined]);
  });

  it('names the column that a text does not fit', async () => {
    const { query } = double([]);
    await expect(journalSql('doubts').read(query, { scope: 'x'.repeat(256), reference: 'a' })).rejects.toThrow(
      'A scope of 256 bytes',
    );
    await expect(journalSql('doubts').read(query, { scope: 'eu', reference: 'x'.repeat(1_021) })).rejects.toThrow(
      'A reference of 1021 bytes',
    );
    await expect(journalSql('doubts').list(query, { scope: 'x'.repeat(256), states: ['begun'] })).rejects.toThrow(
      'A scope of 256 bytes',
    );
  });

  describe('in a merchant’s transaction', () => {
    /** As it is found there. */
    const own = (changes: object = {}) => ({
      ...lineOf('payout-1'),
      details: JSON.stringify({ amount: '5', attemptId: row.attemptId }),
      ...changes,
    });
    /** In a transaction, its next one cannot be changed. */
    const OPEN: Parameters<typeof double>[0][number] = ['SET TRANSACTION', mysqlError(1568)];

    it('writes and reads in an open transaction, and nothing outside one', async () => {
      const { query, sent } = double([OPEN, ['FOR UPDATE', [own()]]]);
      const written = { row: { reference: 'payout-1' }, isInserted: true, now: 5_000 };
      expect(await journalSql('doubts').insertIn(query, row)).toMatchObject(written);
      expect(sent().map(text => text.split(' ')[0])).toEqual(['SET', 'INSERT', 'SELECT']);
      const outside = double([]);
      expect(await journalSql('doubts').insertIn(outside.query, row)).toBeUndefined();
      expect(outside.asked).toHaveLength(1);
    });

    it.each<[string, object, string | undefined]>([
      ['the existing row', own({ details: '{"attemptId":"other"}' }), 'begun'],
    ])('answers %s', async (_, line, state) => {
      const { query } = double([OPEN, ['FOR UPDATE', [line as never]]]);
      const { row: found, ...answer } = (await journalSql('doubts').insertIn(query, row)) ?? {};
      expect([found?.state, answer]).toEqual([state, { isInserted: false, now: 5_000 }]);
    });

    it('says of what fails after the write that it came after it', async () => {
      const { query } = double([OPEN, ['FOR UPDATE', mysqlError(1317)]]);
      const error = await errorOf(journalSql('doubts').insertIn(query, row));
      expect(error).toHaveProperty('message', 'ERROR 1317 (after a write)');
    });

    it('sends nothing where a text does not fit', async () => {
      const { query, asked } = double([OPEN]);
      const long = { ...row, reference: 'x'.repeat(1_021) };
      await expect(journalSql('doubts').insertIn(query, long)).rejects.toThrow('A reference of 1021 bytes');
      expect(asked).toHaveLength(1);
    });

    it('checks nothing of the server, which is the merchant’s to choose', async () => {
      const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
      const line = own({ autocommit: 'open', replica: '1', flush: '2' });
      await journalSql('doubts').insertIn(double([OPEN, ['FOR UPDATE', [line as never]]]).query, row);
      expect(warn).not.toHaveBeenCalled();
    });
  });
});

describe('the stores of MySQL', () => {
  const pool = { getConnection() {} } as never;

  it.each<[string, (options: object) => { ddl(): string }, string]>([
    ['mysqlInbox', options => mysqlInbox(pool, options), 'payment_gateway_inbox'],
    ['mysqlJournal', options => mysqlJournal(pool, options), 'payment_gateway_journal'],
  ])('%s names itself in errors, and has its SQL for other tools', async (name, open, table) => {
    expect(() => open({ tabel: 'a' })).toThrow(name);
    const ddl = open({ table: 'shop.own' }).ddl();
    expect(ddl).toMatch(
      /^CREATE TABLE IF NOT EXISTS `shop`\.`own` \([\s\S]*;\n[\s\S]*ALTER TABLE `shop`\.`own` COMMENT = 'payment-gateway-sdk, version \d'/,
    );
    expect(open({}).ddl()).toContain(`\`${table}\``);
  });

  it('mysqlJournal names itself to who plans without a scope', async () => {
    const planning = mysqlJournal({
      dialect: 'mysql',
      query() {},
      transaction() {},
      queryIn: () => async () => [],
    } as never).plan(
      {} as never,
      {
        ...{ paymentType: 'WITHDRAWAL', paymentMethod: 'SEPA', amount: 1, currency: 'EUR' },
        ...{ reference: 'a', webhookUrl: 'https://shop.example/' },
      } as never,
    );
    expect(await errorOf(planning)).toMatchObject({ message: expect.stringContaining('mysqlJournal(…, { scope:') });
  });
});
