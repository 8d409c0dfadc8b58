// What a journal in a database does with the answers of its SQL, outside and inside a transaction of the merchant's.
import { inspect } from 'node:util';
import { ConfigurationError } from 'payment-gateway-sdk';
import { describe, expect, it, vi } from 'vitest';
import type { JournalRow } from '../../src/journal/contract.ts';
import type { SqlDatabase, SqlQuery } from '../../src/sql/database.ts';
import {
  afterWrite,
  type JournalSql,
  journalOptions,
  journalProblems,
  rowOf,
  type SqlJournalOptions,
  sqlJournal,
} from '../../src/sql/journal.ts';
import { errorOf, PAYOUT } from '../support/fixtures.ts';

const KEY = { scope: 'eu', reference: 'payout-1' };
const ROW: JournalRow = {
  ...KEY,
  paymentType: 'WITHDRAWAL',
  paymentMethod: 'SEPA',
  amount: '75',
  currency: 'EUR',
  bodyHash: 'hash',
  state: 'begun',
  attemptId: 'attempt',
  begunAt: 1_000,
  timeoutMs: 2_000,
  conflictingIds: [],
  looks: 0,
  revision: 1,
};
const REQUEST = { ...PAYOUT, paymentType: 'WITHDRAWAL', reference: 'payout-1' } as const;
const DEADLOCK = Object.assign(new Error('deadlock'), { code: '40P01' });
const NO_TRANSACTION =
  'Nothing was planned: tx is not an open transaction. Pass the transaction of your library, or the client on which you sent BEGIN.';

/** Answers so as soon as something was sent. */
async function answerAfter<T>(sent: unknown, answer: T): Promise<T> {
  await sent;
  return answer;
}

/** SQL that takes everything. Its queries carry the name of what they run on. */
function open(
  changes: Partial<JournalSql> = {},
  database: Partial<SqlDatabase<string>> = {},
  options: SqlJournalOptions = { scope: 'eu' },
) {
  const named = (name: string) =>
    Object.assign(
      vi.fn<SqlQuery>(async sql => [{ sql, on: name }]),
      { on: name },
    );
  const outside = named('pool');
  const within: Record<string, ReturnType<typeof named>> = {};
  const queryIn = vi.fn((tx: string) => {
    within[tx] ??= named(tx);
    return within[tx];
  });
  const db: SqlDatabase<string> = {
    dialect: 'postgres',
    query: outside,
    queryIn,
    transaction: work => work('tx'),
    ...database,
  };
  const sql: JournalSql = {
    migrate: vi.fn(async () => {}),
    ddl: () => 'the DDL',
    read: vi.fn(query => answerAfter(query('read'), { row: ROW, now: 5 })),
    insert: vi.fn((query, row) => answerAfter(query('insert'), { ...row, begunAt: 7 })),
    replace: vi.fn(query => answerAfter(query('replace'), { isReplaced: true, now: 8 })),
    list: vi.fn(query => answerAfter(query('list'), { rows: [ROW], now: 9 })),
    claim: vi.fn(async () => ({ rows: [ROW], now: 10 })),
    insertIn: vi.fn((query, row) =>
      answerAfter(query('insertIn'), { row: { ...row, begunAt: 7 }, isInserted: true, now: 7 }),
    ),
    advised: error => error,
    ...changes,
  };
  const journal = sqlJournal<unknown>('postgresJournal', db, sql, options);
  const sentIn = (tx: string) => within[tx]?.mock.calls.map(([text]) => text);
  return { journal, sql, db, outside, queryIn, sentIn };
}

const query = expect.any(Function);

describe('a row', () => {
  it('is read from texts', () => {
    const { scope, reference, state, revision, begunAt, ...details } = ROW;
    const line = { scope, reference, state, revision: '12', begun: '1700000000123', details: JSON.stringify(details) };
    const read = { ...ROW, revision: 12, begunAt: 1_700_000_000_123 };
    expect(rowOf({ ...line, due: null, leased: null })).toStrictEqual(read);
    expect(rowOf({ ...line, due: '0', leased: '1700000000456' })).toStrictEqual({
      ...read,
      dueAt: 0,
      leasedUntil: 1_700_000_000_456,
    });
  });

  it('has the columns where its details say something else', () => {
    const details = JSON.stringify({ ...ROW, scope: 'other', reference: 'other', state: 'created', revision: 3 });
    const line = { ...KEY, state: 'begun', revision: '2', begun: '1', due: null, leased: null, details } as const;
    expect(rowOf(line)).toMatchObject({ ...KEY, state: 'begun', revision: 2, begunAt: 1 });
  });
});

describe('the options of a journal', () => {
  const read = (options: SqlJournalOptions) => journalOptions('postgresJournal', options, journalProblems);

  it('have a default for the table', () => {
    expect(read({})).toEqual({ table: 'payment_gateway_journal' });
    const all = {
      table: `${'a'.repeat(63)}.${'b'.repeat(63)}`,
      scope: 'eu',
      settleMargin: 0,
    };
    expect(read(all)).toEqual(all);
  });

  it.each([
    [{ table: 'a b' }, 'postgresJournal: table must be a plain name such as my_table, or schema.my_table.'],
    [{ table: 't'.repeat(64) }, 'postgresJournal: table is too long: Postgres would cut a name after 63 characters'],
    [{ table: `${'s'.repeat(64)}.t` }, 'postgresJournal: table is too long'],
    [{ scope: '' }, 'postgresJournal: scope must not be empty.'],
    [{ scope: 'x'.repeat(256) }, 'postgresJournal: scope must have at most 255 bytes of UTF-8, and no NUL.'],
    [{ settleMargin: -1 }, 'postgresJournal: settleMargin must be milliseconds, 0 or more.'],
  ])('refuse %o', (options, message) => {
    expect(() => read(options as SqlJournalOptions)).toThrow(ConfigurationError);
    expect(() => read(options as SqlJournalOptions)).toThrow(message);
  });
});

describe('a journal in a database', () => {
  it('tells its scope, its margin and its DDL, and creates its table', async () => {
    const { journal, sql, db } = open({}, {}, { scope: 'eu', settleMargin: 5 });
    await journal.migrate();
    expect([journal.scope, journal.settleMargin, journal.ddl()]).toEqual(['eu', 5, 'the DDL']);
    expect(vi.mocked(sql.migrate).mock.calls).toEqual([[db]]);
  });

  it('answers what its SQL answers, outside any transaction', async () => {
    const { journal, sql, outside, queryIn } = open();
    expect(await journal.read(KEY)).toMatchObject({ row: ROW, now: 5 });
    expect(await journal.insert(ROW)).toEqual({ row: { ...ROW, begunAt: 7 }, isInserted: true, now: 7 });
    expect(await journal.replace(ROW, 3)).toEqual({ isReplaced: true, now: 8 });
    expect(await journal.list({ states: ['begun'] })).toEqual({ rows: [ROW], now: 9 });
    expect(await journal.claim({ states: ['begun'] }, 4, 5_000)).toEqual({ rows: [ROW], now: 10 });
    expect(outside.mock.calls.map(([text]) => text)).toEqual(['read', 'insert', 'replace', 'list']);
    expect(vi.mocked(sql.read).mock.calls).toEqual([[query, KEY]]);
    expect(vi.mocked(sql.insert).mock.calls).toEqual([[query, ROW]]);
    expect(vi.mocked(sql.replace).mock.calls).toEqual([[query, ROW, 3]]);
    expect(vi.mocked(sql.list).mock.calls).toEqual([[query, { states: ['begun'] }]]);
    expect(vi.mocked(sql.claim).mock.calls).toEqual([[expect.anything(), { states: ['begun'] }, 4, 5_000]]);
    expect(queryIn).not.toHaveBeenCalled();
  });

  it('answers the row that is there where the key is taken', async () => {
    const { journal } = open({ insert: async () => undefined });
    expect(await journal.insert({ ...ROW, attemptId: 'another' })).toEqual({ row: ROW, isInserted: false, now: 5 });
  });

  it('refuses a table that neither takes a row nor has it', async () => {
    const { journal } = open({ insert: async () => undefined, read: async () => ({ now: 5 }) });
    expect(await errorOf(journal.insert(ROW))).toEqual(
      new Error(
        'Reference "payout-1" could neither be written nor found. A trigger on the table, or somebody who deletes its rows, prevents it.',
      ),
    );
  });

  it('sends a statement again that met another transaction', async () => {
    const { journal, outside, sql } = open({
      claim: vi.fn(async () => ({ rows: [], now: 10 })).mockRejectedValueOnce(DEADLOCK),
    });
    outside.mockRejectedValueOnce(DEADLOCK);
    expect(await journal.read(KEY)).toHaveProperty('row', ROW);
    expect(outside).toHaveBeenCalledTimes(2);
    await journal.claim({ states: ['begun'] }, 4, 5_000);
    expect(sql.claim).toHaveBeenCalledTimes(2);
  });

  it('listens to its plans, where its SQL tells of them and the database can listen', async () => {
    const listen = vi.fn(async () => {});
    const { journal } = open({ channel: 'plans' }, { listen });
    const heard = () => {};
    const { signal } = new AbortController();
    await journal.watch?.(heard, signal);
    expect(listen.mock.calls).toEqual([['plans', heard, signal]]);
    for (const deaf of [open({ channel: 'plans' }), open({}, { listen })])
      expect(deaf.journal).not.toHaveProperty('watch');
  });

  it('tells an error of the database in the words of its SQL, without what was written', async () => {
    const error = Object.assign(new Error('Failed query, params: zoe@customer.example'), {
      cause: Object.assign(new Error('no such table'), { code: '42P01' }),
    });
    const advised = (given: unknown) => new Error('advised', { cause: given });
    const reject = () => Promise.reject(error);
    const { journal } = open(
      { advised, migrate: reject, claim: reject },
      {
        query: reject,
        queryIn: () => reject,
      },
    );
    for (const ask of [
      () => journal.read(KEY),
      () => journal.insert(ROW),
      () => journal.replace(ROW, 1),
      () => journal.list({ states: ['begun'] }),
      () => journal.claim({ states: ['begun'] }, 1, 1),
      () => journal.migrate(),
      () => journal.insert(ROW, 'tx'),
    ]) {
      const told = (await errorOf(ask())) as Error;
      expect(told).toMatchObject({ message: 'advised', cause: { message: 'no such table', code: '42P01' } });
      expect(inspect(told, { showHidden: true })).not.toContain('zoe');
    }
  });
});

describe('an error after a write', () => {
  const thrownBy = async (error: Error) => (await errorOf(Promise.reject(error).catch(afterWrite))) as Error;

  it('has no code, which may mean that nothing was written, and keeps its words', async () => {
    const gone = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const error = await thrownBy(gone);
    expect([error.message, error.cause]).toEqual(['connect ECONNREFUSED (after a write)', gone]);
    expect(error).not.toHaveProperty('code');
  });

  it('stays itself where it says what to change', async () => {
    const error = new ConfigurationError('COMMIT first');
    expect(await thrownBy(error)).toBe(error);
  });
});

describe("a journal in a merchant's transaction", () => {
  it('writes there, and nowhere else', async () => {
    const { journal, sql, outside, sentIn } = open();
    expect(await journal.insert(ROW, 'tx')).toEqual({ row: { ...ROW, begunAt: 7 }, isInserted: true, now: 7 });
    expect(sentIn('tx')).toEqual(['insertIn']);
    expect(vi.mocked(sql.insertIn).mock.calls).toEqual([[query, ROW]]);
    expect(outside).not.toHaveBeenCalled();
  });

  it('answers what is there already', async () => {
    const { journal } = open({ insertIn: async () => ({ row: ROW, isInserted: false, now: 5 }) });
    expect(await journal.insert(ROW, 'tx')).toEqual({ row: ROW, isInserted: false, now: 5 });
  });

  it('writes nothing in one that is none', async () => {
    const { journal } = open({ insertIn: async () => undefined });
    const error = await errorOf(journal.insert(ROW, 'tx'));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toHaveProperty('message', NO_TRANSACTION);
  });

  it('says so where the row was freed by somebody, and so is not in the way, and yet not written', async () => {
    const freed: JournalRow = { ...ROW, state: 'freed' };
    const { journal } = open({ insertIn: async () => ({ row: freed, isInserted: false, now: 5 }) });
    await expect(journal.insert(ROW, 'tx')).rejects.toThrow(
      'Reference "payout-1" was freed while it was planned, so nothing was planned: roll back, and plan it again.',
    );
    const over = open({ insertIn: async () => ({ row: freed, isInserted: true, now: 5 }) });
    expect(await over.journal.insert(ROW, 'tx')).toHaveProperty('isInserted', true);
  });

  it('says so where the row is neither written nor there', async () => {
    const { journal } = open({ insertIn: async () => ({ isInserted: false, now: 5 }) });
    await expect(journal.insert(ROW, 'tx')).rejects.toThrow('could neither be written nor found');
  });

  it('repeats nothing there: the database has undone all of it', async () => {
    const insertIn = vi.fn(() => Promise.reject(DEADLOCK));
    const { journal } = open({ insertIn });
    expect(await errorOf(journal.insert(ROW, 'tx'))).toBe(DEADLOCK);
    expect(insertIn).toHaveBeenCalledTimes(1);
  });

  it('is written in its transaction', async () => {
    const { journal, sentIn } = open();
    expect(await journal.plan('tx', REQUEST)).toMatchObject({ ...KEY, state: 'planned' });
    expect(sentIn('tx')).toEqual(['insertIn']);
  });

  it('says what it is for where its scope is missing, and names the journal', async () => {
    const { journal } = open({}, {}, {});
    await expect(journal.plan('tx', REQUEST)).rejects.toThrow(
      "a scope of its own: postgresJournal(…, { scope: 'eu-terminal' })",
    );
  });

  it('passes its third argument on', async () => {
    const { journal } = open();
    await expect(journal.plan('tx', REQUEST, { terminla: 'onramp' } as never)).rejects.toThrow('terminla');
  });

  it('is sent before the call returns, and so before anything that is sent next', () => {
    const { journal, sentIn } = open();
    void journal.plan('tx', REQUEST);
    expect(sentIn('tx')).toEqual(['insertIn']);
  });

  it('tells of a wrong transaction before it looks at the request', async () => {
    const refuse = () => {
      throw new ConfigurationError('a client of pg');
    };
    const { journal } = open({}, { queryIn: refuse });
    await expect(journal.plan('tx', {} as never)).rejects.toThrow('a client of pg');
  });

  it.each([undefined, null])('needs a transaction: %s', async tx => {
    const { journal, queryIn } = open();
    const error = await errorOf(journal.plan(tx, REQUEST));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toHaveProperty('message', NO_TRANSACTION);
    expect(queryIn).not.toHaveBeenCalled();
  });

  it('tells where its arguments were swapped, before it touches anything', async () => {
    const { journal, queryIn } = open();
    await expect(journal.plan(REQUEST, 'tx' as never)).rejects.toThrow('plan takes your transaction first');
    expect(queryIn).not.toHaveBeenCalled();
  });
});
