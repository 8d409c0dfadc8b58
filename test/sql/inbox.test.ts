// What an inbox in a database does with the answers of its SQL: one transaction for the mark and the effect, or an error that
// says what became of them.
import { ConfigurationError, InvalidRequestError } from 'payment-gateway-sdk';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { InboxEvent, Mark } from '../../src/inbox/contract.ts';
import { outsideTransaction, type SqlDatabase, type SqlQuery, withoutColumns } from '../../src/sql/database.ts';
import { type InboxSql, inboxOptions, sqlInbox } from '../../src/sql/inbox.ts';
import { errorOf, ID } from '../support/fixtures.ts';
import { fakeTimers, whileTimePasses } from '../support/passing-time.ts';

const EVENT: InboxEvent = { paymentId: ID, status: 'COMPLETED', final: true };
const DEADLOCK = Object.assign(new Error('deadlock'), { code: '40P01' });
const thrown = new Error('of the shop');
const reject = (error: unknown) => () => Promise.reject(error);

/** Statements that all go well, and what was asked of them, in order: those outside a transaction begin with a star. */
function open(changes: Partial<InboxSql<string, string>> = {}, database: Partial<SqlDatabase<string>> = {}) {
  const asked: string[] = [];
  const inside: SqlQuery = async () => [];
  const outside: SqlQuery = async () => [];
  const note = <T>(name: string, query: unknown, answer: T) => {
    asked.push(query === outside ? `*${name}` : name);
    return answer;
  };
  const db: SqlDatabase<string> = {
    dialect: 'postgres',
    query: async sql => {
      asked.push(`*${sql}`);
      return [];
    },
    async transaction(work) {
      asked.push('BEGIN');
      const value = await work('tx');
      asked.push('COMMIT');
      return value;
    },
    queryIn: () => inside,
    ...database,
  };
  const sql: InboxSql<string, string> = {
    migrate: async () => note('migrate', inside, undefined),
    ddl: () => 'the DDL',
    open: async query => note('open', query, undefined),
    lock: async query => note('lock', query, 'lock'),
    marks: async query => note('marks', query, []),
    begin: async query => note('begin', query, 'begun'),
    complete: async query => note('complete', query, true),
    isEnded: async query => note('isEnded', query, false),
    find: async query => note('find', query, 'done'),
    keep: async query => note('keep', query, undefined),
    resolve: async query => note('resolve', query, true),
    advised: error => error,
    ...changes,
  };
  const inbox = sqlInbox(db, sql);
  const work = vi.fn(async (_: { tx: string }): Promise<unknown> => void asked.push('work'));
  return { inbox, sql, asked, work };
}

const DONE = ['BEGIN', 'open', 'lock', 'marks', 'begin', 'work', 'complete', 'COMMIT'];
const ALL = [...DONE, 'find'];

describe('an inbox in a database', () => {
  it('marks a status as begun, runs its work, and marks it as done, in one transaction', async () => {
    const { inbox, asked, work } = open();
    expect(await inbox.run(EVENT, work)).toBe('ran');
    expect([asked, work.mock.calls]).toEqual([ALL, [[{ tx: 'tx' }]]]);
  });

  it('passes each statement what the ones before it have answered', async () => {
    const marks = vi.fn(async () => []);
    const begin = vi.fn(async () => 'begun');
    const complete = vi.fn(async () => true);
    const find = vi.fn(async () => 'done' as const);
    const { inbox, work } = open({ marks, begin, complete, find });
    expect(await inbox.run(EVENT, work)).toBe('ran');
    const query = expect.any(Function);
    expect([marks, begin, complete, find].map(({ mock }) => mock.calls)).toEqual([
      [[query, EVENT, 'lock']],
      [[query, EVENT, 'lock']],
      [[query, EVENT, 'begun']],
      [[query, EVENT, 'begun']],
    ]);
  });

  it('prepares before the transaction, if it must', async () => {
    const prepare = vi.fn(async (query: SqlQuery) => void (await query('prepare')));
    const { inbox, asked, work } = open({ prepare });
    await inbox.run(EVENT, work);
    expect([asked, prepare.mock.calls]).toEqual([['*prepare', ...ALL], [[expect.any(Function), EVENT]]]);
  });

  it.each([
    ['one that is done already', [{ status: 'COMPLETED', final: true }], 'already'],
    ['one that contradicts it', [{ status: 'REJECTED', final: true }], [{ status: 'REJECTED', final: true }]],
  ] as [string, Mark[], unknown][])('runs nothing, and marks nothing, after %s', async (_, marks, answer) => {
    const { inbox, asked, work } = open({ marks: async () => marks });
    expect(await inbox.run(EVENT, work)).toEqual(answer);
    expect(asked).toEqual(['BEGIN', 'open', 'lock', 'COMMIT']);
  });

  it('waits for a payment that another worker has, for about a second, and is busy then', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: 0 });
    onTestFinished(() => void vi.useRealTimers());
    const tried: number[] = [];
    const lock = async () => void tried.push(Date.now());
    const { inbox, work, asked } = open({ lock });
    expect(await whileTimePasses(inbox.run(EVENT, work), 10)).toBe('busy');
    expect(asked).toEqual(['BEGIN', 'open', 'COMMIT']);
    expect(tried).toEqual([0, 20, 60, 140, 300, 620, 1_260]);
  });

  it('goes on as soon as the other worker is done', async () => {
    const lock = vi.fn<InboxSql<string, string>['lock']>().mockResolvedValueOnce(undefined).mockResolvedValue('');
    const { inbox, work } = open({ lock });
    expect([await inbox.run(EVENT, work), lock.mock.calls.length]).toEqual(['ran', 2]);
  });

  it('throws what the work throws, once the transaction is known to be the one that began', async () => {
    const { inbox, asked } = open();
    expect(await errorOf(inbox.run(EVENT, reject(thrown)))).toBe(thrown);
    expect(asked).toEqual(['BEGIN', 'open', 'lock', 'marks', 'begin', 'isEnded']);
  });

  it('leaves what onPayment throws as it is: the table that it misses may be one of its own', async () => {
    const missing = Object.assign(new Error('relation "orders" does not exist'), { code: '42P01' });
    const { inbox } = open({ advised: () => new Error('advised') });
    expect(await errorOf(inbox.run(EVENT, reject(missing)))).toBe(missing);
  });

  it('throws what the mark meets, in the words of its SQL', async () => {
    const broken = new Error('broken');
    const told = new Error('advised');
    const advised = (error: unknown) => (error === broken ? told : error);
    for (const part of ['prepare', 'open', 'lock', 'marks', 'begin', 'complete'] as const) {
      const { inbox, work } = open({ [part]: reject(broken), advised });
      expect(await errorOf(inbox.run(EVENT, work)), part).toBe(told);
    }
    const { inbox } = open({ migrate: reject(broken), advised });
    expect(await errorOf(inbox.migrate())).toBe(told);
  });

  it.each(['the work', 'the mark that it is done'])(
    'runs all of it again where %s met another transaction',
    async where => {
      let tries = 0;
      const meet = async () => {
        tries += 1;
        if (tries < 3) throw DEADLOCK;
        return true;
      };
      const { inbox, work, asked } = open(where === 'the work' ? {} : { complete: meet });
      if (where === 'the work') work.mockImplementation(meet);
      expect([await inbox.run(EVENT, work), tries, work.mock.calls.length]).toEqual(['ran', 3, 3]);
      expect(asked.filter(name => name === 'begin')).toHaveLength(3);
    },
  );

  it('runs all of it again where the preparation met another transaction', async () => {
    const prepare = vi.fn(async () => {}).mockRejectedValueOnce(DEADLOCK);
    const { inbox, work, asked } = open({ prepare });
    expect([await inbox.run(EVENT, work), prepare.mock.calls.length, asked]).toEqual(['ran', 2, ALL]);
  });
});

describe('a transaction that something else has ended', () => {
  const MESSAGE =
    'The transaction of onPayment ended before onPayment returned, so its effect may be incomplete. The status does not run again until you call inbox.resolve(). Leave BEGIN, COMMIT and ROLLBACK to the inbox.';

  it.each([
    ['before its work failed', { isEnded: async () => true }, reject(thrown), thrown],
    ['before its work was done', { complete: async () => false }, async () => {}, undefined],
    // Also then: what was written is committed.
    ['before its work met a deadlock', { isEnded: async () => true }, reject(DEADLOCK), DEADLOCK],
  ])('%s keeps its mark as begun, and is not repeated', async (_, changes, work, cause) => {
    const keep = vi.fn<InboxSql<string, string>['keep']>(async query => query('keep'));
    const { inbox, asked } = open({ keep, ...changes });
    const runs = vi.fn(work);
    const error = (await errorOf(inbox.run(EVENT, runs))) as Error;
    expect([error.message, error.cause, 'cause' in error]).toEqual([MESSAGE, cause, cause !== undefined]);
    expect([runs.mock.calls.length, keep.mock.calls]).toEqual([1, [[expect.any(Function), EVENT, 'begun']]]);
    expect(asked.at(-1)).toBe('*keep');
  });

  it('keeps its mark also if that meets another transaction', async () => {
    const keep = vi.fn(async () => {}).mockRejectedValueOnce(DEADLOCK);
    const { inbox, work } = open({ keep, complete: async () => false });
    await expect(inbox.run(EVENT, work)).rejects.toThrow(MESSAGE);
    expect([keep.mock.calls.length, work.mock.calls.length]).toEqual([2, 1]);
  });

  it('is not waited for where the database does not answer', async () => {
    fakeTimers();
    const never = () => new Promise<never>(() => {});
    const { inbox, work } = open({ keep: query => query('keep'), complete: async () => false }, { query: never });
    const error = await whileTimePasses(errorOf(inbox.run(EVENT, work)), 1_000);
    expect(error).toEqual(new Error('The database did not answer within 5000 ms.'));
  });
});

describe('after the commit, the mark', () => {
  it.each([
    ['done', undefined],
    ['begun', 'ended before onPayment returned'],
    [undefined, 'was rolled back, although the library reported a commit'],
  ] as const)('is looked for outside the transaction: %s', async (found, message) => {
    const { inbox, asked, work } = open({ find: async () => found });
    const running = inbox.run(EVENT, work);
    if (message) await expect(running).rejects.toThrow(message);
    else expect(await running).toBe('ran');
    expect(asked).toEqual(DONE);
  });

  it('is not looked for where nothing ran', async () => {
    const { inbox, asked, work } = open({ marks: async () => [{ status: 'COMPLETED', final: true }] });
    expect([await inbox.run(EVENT, work), asked.at(-1)]).toEqual(['already', 'COMMIT']);
  });
});

it('an effect that takes too long is rolled back', async () => {
  fakeTimers();
  const { inbox, asked } = open();
  const error = await whileTimePasses(errorOf(inbox.run(EVENT, () => new Promise(() => {}))), 1_000);
  expect((error as Error).message).toMatch(/^onPayment took more than 20000 ms, .* a second connection never comes/);
  expect(asked.at(-1)).toBe('isEnded');
});

describe('an effect that nobody knows about', () => {
  it.each(['done', 'again'] as const)('is resolved by an operator as %s', async resolution => {
    const resolve = vi.fn(async () => true);
    const { inbox } = open({ resolve });
    await inbox.resolve(ID, 'COMPLETED', resolution);
    expect(resolve.mock.calls).toEqual([[expect.any(Function), ID, 'COMPLETED', resolution]]);
  });

  it('is not resolved in other words, and asks nothing of the database', async () => {
    const resolve = vi.fn(async () => true);
    const { inbox } = open({ resolve });
    for (const word of ['Done', '', undefined]) {
      expect(await errorOf(inbox.resolve(ID, 'COMPLETED', word as never))).toMatchObject({
        name: 'InvalidRequestError',
        issues: [{ path: 'resolution', message: "must be 'done' or 'again'" }],
      });
    }
    expect(resolve).not.toHaveBeenCalled();
  });

  it('is refused where it is not in doubt', async () => {
    const { inbox } = open({ resolve: async () => false });
    const error = await errorOf(inbox.resolve(ID, 'COMPLETED', 'done'));
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toMatchObject({
      issues: [
        {
          path: 'status',
          message: 'COMPLETED of this payment is not in doubt: it has no mark that was begun and not finished',
        },
      ],
    });
  });
});

describe('the options of an inbox', () => {
  it('have a default', () => {
    expect(inboxOptions('postgresInbox', {})).toEqual({ table: 'payment_gateway_inbox' });
    expect(inboxOptions('postgresInbox', { table: 'shop.marks' })).toEqual({ table: 'shop.marks' });
  });

  it.each(['', 'a b', 'a"b', 'a.b.c', '1a', 'a.', '.a', 'a;b', 'a.1b', 'é', 7, null, ' a', 'a '])(
    'refuse a table that is called %j',
    table => {
      expect(() => inboxOptions('postgresInbox', { table: table as string })).toThrow(
        'postgresInbox: table must be a plain name such as my_table, or schema.my_table',
      );
    },
  );

  it.each(['a', '_a', 'A1', 'marks_2', 'shop.marks', '_1._2'])('take a table that is called %j', table => {
    expect(inboxOptions('postgresInbox', { table })).toEqual({ table });
  });
});

it('what is wrong with a database of your own is told as a mistake of its configuration', () => {
  for (const error of [outsideTransaction(), withoutColumns()]) expect(error).toBeInstanceOf(ConfigurationError);
  expect(outsideTransaction().message).toMatch(
    /^transaction\(\) of the SqlDatabase ran its query outside a transaction: .*Begin one, and run query in it\.$/,
  );
  expect(withoutColumns().message).toMatch(
    /^query\(\) of the SqlDatabase must answer rows as objects, .*something has renamed or unwrapped them\.$/,
  );
});

it('an inbox tells its DDL, and creates its table', async () => {
  const { inbox, asked } = open();
  await inbox.migrate();
  expect([inbox.ddl(), asked]).toEqual(['the DDL', ['migrate']]);
});
