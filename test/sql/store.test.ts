// A store in a database does the right thing with each answer of its SQL: one transaction for the mark and the effect,
// or an error that says what became of them.
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { delay } from '../../src/deadline.ts';
import { ConfigurationError } from '../../src/errors.ts';
import { markCommitted } from '../../src/sql/committed.ts';
import type { SqlDatabase, SqlQuery } from '../../src/sql/database.ts';
import type { Answer, Dialect, Table } from '../../src/sql/dialect.ts';
import { afterWrite, rowChanged } from '../../src/sql/errors.ts';
import { sqlStore, sqlStoreOptions } from '../../src/sql/store.ts';
import { EffectCutOff, PaymentTaken, type StoreRow } from '../../src/store/contract.ts';
import { isOfMerchant } from '../../src/store/thrown.ts';
import { newRow } from '../../src/testing/test-function.ts';
import { errorOf } from '../support/fixtures.ts';
import { fakeTimers, whileTimePasses } from '../support/passing-time.ts';

const ROW = newRow();
const PAYMENT = newRow({ kind: 'payment', id: 'payment', state: 'done', revision: 1 });
const EFFECT = { id: 'payment', about: { status: 'COMPLETED' }, reads: [ROW] };
const MARKED = { id: 'payment', writer: 'own', payment: PAYMENT, rows: [ROW] };
const DEADLOCK = Object.assign(new Error('deadlock'), { code: '40P01' });
const thrown = new Error('of the shop');
const reject = (error: unknown) => () => Promise.reject(error);

/** Statements that all succeed, and their names in order: those outside a transaction begin with a star. */
function open(
  { found, ...changes }: Partial<Table> & { found?: Partial<Answer> } = {},
  database: Partial<SqlDatabase<string>> = {},
) {
  const asked: string[] = [];
  const inside: SqlQuery = async () => [];
  const note = async <T>(name: string, query: SqlQuery | undefined, answer: T) => {
    if (query) await query(name);
    return answer;
  };
  const db: SqlDatabase<string> = {
    dialect: 'postgres',
    query: async sql => {
      if (sql === 'SELECT its name AS name') return [{ name: 'rows' }];
      asked.push(`*${sql}`);
      return [{}];
    },
    async transaction(work) {
      asked.push('BEGIN');
      try {
        const value = await work('tx');
        asked.push('COMMIT');
        return value;
      } catch (error) {
        asked.push('ROLLBACK');
        throw error;
      }
    },
    queryIn: () => async (sql, values) => {
      asked.push(sql);
      return inside(sql, values);
    },
    ...database,
  };
  const written = { isWritten: true, row: ROW, now: 5 };
  const line: Answer = { row: ROW, now: 5, writer: undefined, ...found };
  const table: Table = {
    answerOf: () => line,
    read: () => ['read'],
    owner: () => ['owner'],
    list: () => ['list'],
    due: () => ['due'],
    lease: () => ['lease'],
    write: (query, _, isAlone) => note(isAlone ? 'write' : 'write within', query, written),
    begin: query => note('begin', query, { ...MARKED }),
    complete: query => note('complete', query, true),
    isEnded: query => note('isEnded', query, false),
    ...changes,
  };
  const migrations = { steps: [], lock: 'lock', comment: 'comment', setComment: () => 'the DDL' };
  const dialect: Dialect = { fullName: 'its name', migrations, over: () => table };
  const store = sqlStore(db, dialect, { scope: 'eu', settleMargin: 7 });
  const work = vi.fn(async (_: unknown): Promise<readonly StoreRow[] | undefined> => {
    asked.push('work');
    return [PAYMENT];
  });
  return { store, asked, work, run: () => store.effect(EFFECT, work) };
}

/** The mark in a committed row. */
const COMMITTED = { row: PAYMENT, writer: MARKED.writer };
const DONE = ['BEGIN', 'begin', 'work', 'complete', 'COMMIT'];

describe('an effect', () => {
  it('is marked, run and completed in one transaction, and looked for after it', async () => {
    const { asked, work, run } = open({ found: COMMITTED });
    expect([await run(), asked]).toEqual(['done', [...DONE, '*read']]);
    expect(work.mock.calls).toEqual([[{ tx: 'tx', payment: PAYMENT, rows: [ROW] }]]);
  });

  it('is not looked for after a COMMIT that the driver proves', async () => {
    const transaction: SqlDatabase<string>['transaction'] = async work => markCommitted((await work('tx')) as never);
    const { asked, run } = open({}, { transaction });
    expect([await run(), asked]).toEqual(['done', ['begin', 'work', 'complete']]);
  });

  it('is rolled back if the work writes nothing', async () => {
    const { asked, run, work } = open();
    work.mockResolvedValue(undefined);
    expect([await run(), asked]).toEqual(['skipped', ['BEGIN', 'begin', 'ROLLBACK']]);
  });

  it('waits about a second for a payment that another worker has, and is busy then', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: 0 });
    onTestFinished(() => void vi.useRealTimers());
    const tried: number[] = [];
    const begin = async () => {
      tried.push(Date.now());
      return 'busy' as const;
    };
    const { asked, run } = open({ begin });
    expect(await whileTimePasses(run(), 10)).toBe('busy');
    expect([asked, tried]).toEqual([
      ['BEGIN', 'COMMIT'],
      [0, 20, 60, 140, 300, 620, 1_260],
    ]);
  });

  it('throws the error of the work, once the transaction is known to be the one that began', async () => {
    const { store, asked } = open();
    const error = await errorOf(store.effect(EFFECT, reject(thrown)));
    expect([error, isOfMerchant(error)]).toEqual([thrown, true]);
    expect(asked).toEqual(['BEGIN', 'begin', 'isEnded', 'ROLLBACK']);
  });

  it('advises on the errors of its own statements, and not on those of the work', async () => {
    const missingOf = () => Object.assign(new Error('relation "orders" does not exist'), { code: '42P01' });
    const ofWork = [missingOf(), new EffectCutOff('Another effect was cut off.')];
    for (const error of ofWork) {
      const { store, asked } = open();
      expect(await errorOf(store.effect(EFFECT, reject(error)))).toBe(error);
      expect(asked.at(-1)).toBe('ROLLBACK');
    }
    for (const part of ['begin', 'complete'] as const) {
      const failing = open({ [part]: reject(missingOf()) }).run();
      const message = expect.stringContaining('exist: call migrate()');
      expect(await errorOf(failing), part).toMatchObject({ message, code: '42P01' });
    }
  });

  it.each([
    ['its work', {}, DEADLOCK],
    ['its completion', { complete: true }, DEADLOCK],
    ['a row that changed meanwhile', { complete: true }, rowChanged()],
    ['its preparation', { prepare: true }, DEADLOCK],
  ])('is repeated after a conflict of %s', async (_, where, error) => {
    let tries = 0;
    const meet = async () => {
      tries += 1;
      if (tries < 3) throw error;
      return true;
    };
    const changes = Object.fromEntries(Object.keys(where).map(part => [part, meet]));
    const { run, work, asked } = open({ ...changes, found: COMMITTED });
    if (Object.keys(where).length === 0) {
      work.mockImplementation(async () => {
        await meet();
        return [PAYMENT];
      });
    }
    expect([await run(), tries, asked.filter(name => name === 'COMMIT')]).toEqual(['done', 3, ['COMMIT']]);
  });

  it('is not repeated if its payment belongs to another create', async () => {
    const complete = vi.fn(reject(new PaymentTaken('taken')));
    const { run } = open({ complete });
    expect(await errorOf(run())).toBeInstanceOf(PaymentTaken);
    expect(complete).toHaveBeenCalledTimes(1);
  });

  it('may take as long as the handler lets it', async () => {
    fakeTimers();
    const { store } = open({ found: COMMITTED });
    const effect = store.effect(EFFECT, async () => {
      await delay(25_000);
      return [PAYMENT];
    });
    expect(await whileTimePasses(effect, 1_000)).toBe('done');
  });
});

describe('a transaction that other code has ended', () => {
  it.each([
    ['before its work failed', { isEnded: async () => true }, reject(thrown), thrown],
    ['before its work was done', { complete: async () => false }, async () => [PAYMENT], undefined],
    // What was written is committed.
    ['before its work met a deadlock', { isEnded: async () => true }, reject(DEADLOCK), DEADLOCK],
  ])('%s keeps its mark as begun, and is not repeated', async (_, changes, work, cause) => {
    const write = vi.fn<Table['write']>(async () => ({ isWritten: true, now: 5 }));
    const { store, asked } = open({ write, found: { row: PAYMENT }, ...changes });
    const runs = vi.fn<() => Promise<StoreRow[]>>(work);
    const error = (await errorOf(store.effect(EFFECT, runs))) as Error;
    expect(error.message).toMatch(/^The transaction of the effect ended before .* gateway\.resolveReview/);
    expect([error.cause, 'cause' in error]).toEqual([cause, cause !== undefined]);
    const kept = { ...PAYMENT, state: 'begun', about: EFFECT.about };
    expect([runs.mock.calls.length, write.mock.calls]).toEqual([1, [[expect.any(Function), kept, true]]]);
    expect(asked.at(-1)).toBe('*read');
  });
});

it.each<[string, Partial<Answer>, string]>([
  ['begun', { row: { ...PAYMENT, state: 'begun' }, writer: MARKED.writer }, 'ended before your function returned'],
  ['lost', { row: undefined }, 'was rolled back, although the library reported a commit'],
])('an effect is not done if its mark is %s after the commit', async (_, found, message) => {
  const { run, asked } = open({ found });
  await expect(run()).rejects.toThrow(message);
  expect(asked).toEqual([...DONE, '*read']);
});

describe('rows', () => {
  it('are sent again after a conflict', async () => {
    const query = vi.fn<SqlQuery>(async () => [{ name: 'rows' }]).mockRejectedValueOnce(DEADLOCK);
    const transaction = vi.fn(async () => 'leased' as never).mockRejectedValueOnce(DEADLOCK);
    const { store } = open({}, { query, transaction });
    expect(await store.read(ROW)).toHaveProperty('row', ROW);
    expect(await store.due({ kind: 'create', states: [] }, 1, 1)).toBe('leased');
    expect([query.mock.calls.length, transaction.mock.calls.length]).toEqual([3, 2]);
  });

  it("are written in the merchant's transaction, once, before the call returns", async () => {
    const { store, asked } = open();
    await store.read(ROW);
    void store.write(ROW, 'tx');
    expect(asked).toEqual(['*read', 'write within']);
    const write = vi.fn(reject(DEADLOCK));
    const failing = open({ write }).store;
    await failing.read(ROW);
    expect(await errorOf(failing.write(ROW, 'tx'))).toBe(DEADLOCK);
    expect(write).toHaveBeenCalledTimes(1);
  });

  it('report errors of the database without the written values', async () => {
    const error = Object.assign(new Error('Failed query, params: zoe@customer.example'), {
      cause: Object.assign(new Error('no such table'), { code: '42P01' }),
    });
    const fail = reject(error);
    const { store } = open({}, { query: fail, queryIn: () => fail, transaction: fail });
    const query = { kind: 'create', states: [] } as const;
    for (const ask of [
      () => store.read(ROW),
      () => store.owner(''),
      () => store.write(ROW),
      () => store.write(ROW, 'tx'),
      () => store.list(query),
      () => store.due(query, 1, 1),
      () => store.migrate(),
      () => store.effect(EFFECT, async () => []),
    ]) {
      const reported = (await errorOf(ask())) as Error;
      expect(reported).toMatchObject({
        message: 'no such table: call migrate(), or correct tablePrefix',
        code: '42P01',
      });
      expect(inspect(reported, { showHidden: true })).not.toContain('zoe');
    }
  });
});

describe('the options of a store', () => {
  const read = (options: object) => sqlStoreOptions('postgresStore', options as never);

  it('name its table', () => {
    expect(read({ scope: 'eu' })).toEqual({ scope: 'eu', table: 'payment_gateway_rows', settleMargin: undefined });
    const prefix = `${'a'.repeat(63)}.${'b'.repeat(58)}`;
    expect(read({ scope: 'eu', tablePrefix: prefix, settleMargin: 0 })).toEqual({
      scope: 'eu',
      table: `${prefix}_rows`,
      settleMargin: 0,
    });
  });

  it.each([
    [undefined, "scope is missing: pass { scope: 'eu-terminal' }, one per terminal."],
    [{}, "scope is missing: pass { scope: 'eu-terminal' }, one per terminal."],
    [{ scope: '' }, 'scope must not be empty.'],
    [{ scope: 'x'.repeat(256) }, 'scope must have at most 255 bytes of UTF-8 and no NUL.'],
    [{ scope: 'a', settleMargin: -1 }, 'settleMargin must be milliseconds, 0 or more.'],
    [{ scope: 'a', tablePrefix: 't'.repeat(59) }, 'tablePrefix is too long'],
    [{ scope: 'a', table: 'rows' }, 'unknown option "table"; there are: scope, tablePrefix, settleMargin'],
    ...['', 'a b', 'a"b', 'a.b.c', '1a', 'a.', '.a', 'a;b', 'é', 7, null, 'a '].map(tablePrefix => [
      { scope: 'a', tablePrefix },
      'tablePrefix must be a plain name such as my_table, or schema.my_table',
    ]),
  ] as [object, string][])('refuse %o', (options, message) => {
    expect(() => read(options)).toThrow(ConfigurationError);
    expect(() => read(options)).toThrow(`postgresStore: ${message}`);
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

  it('stays the same if it says what to change', async () => {
    const error = new ConfigurationError('COMMIT first');
    expect(await thrownBy(error)).toBe(error);
  });
});
