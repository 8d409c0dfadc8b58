// fromPrisma over a double of its client: what is asked of it, and the gates before its transactions over MySQL.
import { ConfigurationError } from 'payment-gateway-sdk';
import { fromPrisma } from 'payment-gateway-sdk/postgres';
import { describe, expect, it } from 'vitest';
import { RolledBack } from '../../src/sql/bounded.ts';
import { errorOf } from '../support/fixtures.ts';

/** An operation as an extension of Prisma sees it. */
type Around = (asked: {
  operation: string;
  args: unknown;
  query(args: unknown): Promise<unknown>;
  __internalParams?: object;
}) => Promise<unknown>;

interface Tx {
  $queryRawUnsafe(sql: string, ...values: unknown[]): Promise<unknown>;
  $executeRawUnsafe(sql: string, ...values: unknown[]): Promise<unknown>;
  $queryRaw(template: { sql: string }): Promise<unknown>;
  order: { update(args: object): Promise<unknown> };
}

/**
 * A client that keeps what it was sent, with the id of the transaction.
 *
 * @param fail an error for some statements
 * @param tell what it tells its extensions of a statement in the transaction of that id
 */
function client(
  provider?: string,
  fail: (sql: unknown) => unknown = () => undefined,
  tell: (id?: string) => object = id => ({ __internalParams: id ? { transaction: { id } } : {} }),
) {
  const sent: unknown[][] = [];
  const options: unknown[] = [];
  const engine = {};
  let ids = 0;
  const handleOf = (id?: string, around: Around = ({ args, query }) => query(args)): Tx => {
    const run = (operation: string, args: unknown, answer: unknown) =>
      around({
        operation,
        args,
        query: async given => {
          const error = fail(given);
          if (error) throw error;
          sent.push([id, operation, given]);
          return answer;
        },
        ...tell(id),
      });
    return {
      $queryRawUnsafe: (...args) => run('$queryRawUnsafe', args, [{ a: '1' }]),
      $executeRawUnsafe: (...args) => run('$executeRawUnsafe', args, 3),
      $queryRaw: template => run('$queryRaw', template, []),
      order: { update: args => run('update', args, {}) },
    };
  };
  const make = (around?: Around) => ({
    ...handleOf(undefined, around),
    $connect: async () => {},
    $extends: ({ query }: { query: { $allOperations: Around } }) => make(query.$allOperations),
    async $transaction<T>(work: (tx: Tx) => Promise<T>, given: unknown): Promise<T> {
      options.push(given);
      ids += 1;
      return work(handleOf(`tx-${ids}`, around));
    },
    _engine: engine,
    _activeProvider: provider as string,
  });
  return { prisma: make(), sent, options, engine };
}

describe('fromPrisma', () => {
  it.each([
    ['postgresql', 'postgres'],
    ['postgres', 'postgres'],
    [undefined, 'postgres'],
    ['mysql', 'mysql'],
  ])('speaks, over a provider %s, %s', (provider, dialect) => {
    expect(fromPrisma(client(provider).prisma).dialect).toBe(dialect);
  });

  it.each(['sqlite', 'sqlserver', 'cockroachdb', 'my-postgresql'])('refuses %s', provider => {
    const open = () => fromPrisma(client(provider).prisma);
    expect(open).toThrow(ConfigurationError);
    expect(open).toThrow(`a PrismaClient over PostgreSQL or MySQL, and this one is over ${provider}`);
  });

  it.each([
    ['nothing', undefined, 'fromPrisma takes a new PrismaClient().'],
    ['something else', {}, 'fromPrisma takes a new PrismaClient().'],
    [
      'the client of a transaction',
      { $queryRawUnsafe() {} },
      'fromPrisma takes a new PrismaClient(), and not the client of a transaction.',
    ],
    [
      'one that cannot connect',
      { $queryRawUnsafe() {}, $transaction() {} },
      'fromPrisma takes a new PrismaClient(), and not the client of a transaction.',
    ],
  ])('refuses %s', (_, given, message) => {
    expect(() => fromPrisma(given as never)).toThrow(message);
  });

  it('knows its pool by the engine that it shares with what is derived from it', () => {
    const { prisma, engine } = client();
    expect(fromPrisma(prisma).pool).toEqual({ identity: engine, max: 10 });
    expect(fromPrisma(prisma).pool?.identity).toBe(engine);
    expect(fromPrisma(prisma, { poolSize: 4 }).pool?.max).toBe(4);
    const { _engine, ...without } = prisma;
    expect(fromPrisma(without).pool?.identity).toBe(without);
  });

  it.each([
    [{ poolSize: 1 }, 'fromPrisma: poolSize must be 2 or more'],
    [{ timeout: 0 }, 'fromPrisma: timeout must be milliseconds'],
    [{ poolsize: 4 }, 'did you mean "poolSize"'],
  ])('refuses the options %o', (options, message) => {
    expect(() => fromPrisma(client().prisma, options as never)).toThrow(message);
  });

  it('begins transactions at READ COMMITTED, waits five seconds for one, and gives it a minute', async () => {
    const { prisma, options } = client();
    expect(await fromPrisma(prisma).transaction(async () => 'done')).toBe('done');
    await fromPrisma(prisma, { timeout: 7_000 }).transaction(async () => {});
    expect(options).toEqual([
      { isolationLevel: 'ReadCommitted', maxWait: 5_000, timeout: 60_000 },
      { isolationLevel: 'ReadCommitted', maxWait: 5_000, timeout: 7_000 },
    ]);
  });

  it('sends statements over Postgres as they are, in a transaction and outside', async () => {
    const { prisma, sent } = client('postgresql');
    const db = fromPrisma<Tx>(prisma);
    expect(await db.query('update a', ['x', null])).toEqual([{ a: '1' }]);
    expect(await db.query('select 1')).toEqual([{ a: '1' }]);
    await db.transaction(async (tx, query) => {
      expect(await query('select 2')).toEqual([{ a: '1' }]);
      expect(await db.queryIn?.(tx)('select 3', ['y'])).toEqual([{ a: '1' }]);
    });
    expect([sent, db.lend]).toEqual([
      [
        [undefined, '$queryRawUnsafe', ['update a', 'x', null]],
        [undefined, '$queryRawUnsafe', ['select 1']],
        ['tx-1', '$queryRawUnsafe', ['select 2']],
        ['tx-1', '$queryRawUnsafe', ['select 3', 'y']],
      ],
      undefined,
    ]);
  });

  it('tells over MySQL how many rows a write has changed', async () => {
    const { prisma, sent } = client('mysql');
    const { query } = fromPrisma<Tx>(prisma);
    expect(await query(' select 1', ['x'])).toEqual([{ a: '1' }]);
    expect(await query('SELECT\n2')).toEqual([{ a: '1' }]);
    expect(await query('update a', ['x'])).toEqual([{ affected: '3' }]);
    expect(await query('/* SELECT */ delete from a')).toEqual([{ affected: '3' }]);
    expect(await query('selected')).toEqual([{ affected: '3' }]);
    expect(sent).toEqual([
      [undefined, '$queryRawUnsafe', [' select 1', 'x']],
      [undefined, '$queryRawUnsafe', ['SELECT\n2']],
      [undefined, '$executeRawUnsafe', ['update a', 'x']],
      [undefined, '$executeRawUnsafe', ['/* SELECT */ delete from a']],
      [undefined, '$executeRawUnsafe', ['selected']],
    ]);
  });

  it('plans only in the client of a transaction', () => {
    const { prisma } = client();
    const db = fromPrisma<Tx>(prisma);
    for (const tx of [undefined, {}, prisma]) {
      expect(() => db.queryIn?.(tx as never)).toThrow(
        'plan takes as its tx that of prisma.$transaction(async tx => …). Nothing was planned.',
      );
    }
  });
});

describe('a transaction of Prisma over MySQL', () => {
  const DEADLOCK = Object.assign(new Error('write conflict'), { code: 'P2034' });
  const REFUSED = 'BEGIN, COMMIT and ROLLBACK are refused';

  /** Lends a transaction, as an inbox does: after a statement of its own. */
  const lent = (db: ReturnType<typeof fromPrisma<Tx>>, work: (tx: Tx) => Promise<unknown>) =>
    db.transaction(async (tx, query) => {
      await query('savepoint ours');
      await db.lend?.(tx, work);
      await query('/* payment-gateway-sdk */ update marks');
    });

  it('is lent behind a gate, however a statement is written', async () => {
    const { prisma, sent } = client('mysql');
    await lent(fromPrisma<Tx>(prisma), async tx => {
      await expect(tx.$executeRawUnsafe('commit')).rejects.toThrow(REFUSED);
      await expect(tx.$queryRawUnsafe('commit')).rejects.toThrow(REFUSED);
      await expect(tx.$queryRaw({ sql: 'commit' })).rejects.toThrow(REFUSED);
      // What is no statement Prisma refuses.
      for (const other of [{}, undefined, null]) await tx.$queryRaw(other as never);
      // Of a model, what it is called is no statement.
      await tx.order.update({ sql: 'commit' });
    });
    expect(sent.map(([id, operation]) => [id, operation])).toEqual([
      ['tx-1', '$executeRawUnsafe'],
      ['tx-1', '$queryRaw'],
      ['tx-1', '$queryRaw'],
      ['tx-1', '$queryRaw'],
      ['tx-1', 'update'],
      ['tx-1', '$executeRawUnsafe'],
    ]);
  });

  it('is undone whole by a deadlock, and takes nothing after it', async () => {
    const { prisma, sent } = client('mysql', given => JSON.stringify(given).includes('deadlock') && DEADLOCK);
    const failing = lent(fromPrisma<Tx>(prisma), async tx => {
      await tx.order.update({ row: 'deadlock' }).catch(() => {});
      await tx.order.update({ row: 'other' }).catch(() => {});
    });
    expect(await errorOf(failing)).toBeInstanceOf(RolledBack);
    expect(sent).toHaveLength(1);
  });

  it('takes nothing once it was lent', async () => {
    const { prisma, sent } = client('mysql');
    let left: Tx | undefined;
    const db = fromPrisma<Tx>(prisma);
    await db.transaction(async (tx, query) => {
      await query('savepoint ours');
      await db.lend?.(tx, async lent => {
        left = lent;
      });
      await expect(left?.order.update({})).rejects.toThrow('The transaction has ended');
    });
    expect(sent).toHaveLength(1);
  });

  it('is forgotten at its end: what comes then Prisma refuses by itself', async () => {
    const { prisma, sent } = client('mysql');
    let left: Tx | undefined;
    const failing = lent(fromPrisma<Tx>(prisma), async tx => {
      left = tx;
      throw new Error('of the shop');
    });
    await expect(failing).rejects.toThrow('of the shop');
    await left?.order.update({});
    expect(sent.map(([, operation]) => operation)).toEqual(['$executeRawUnsafe', 'update']);
  });

  it.each([
    ['nothing', {}],
    ['nothing of transactions', { __internalParams: {} }],
    ['no id', { __internalParams: { transaction: {} } }],
  ])('is not lent where Prisma does not tell what belongs to it, but %s', async (_, told) => {
    const { prisma, sent } = client('mysql', undefined, () => told);
    let isLent = false;
    const failing = lent(fromPrisma<Tx>(prisma), async () => {
      isLent = true;
    });
    const error = await errorOf(failing);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toHaveProperty(
      'message',
      expect.stringContaining('does not tell to which of them a statement belongs'),
    );
    expect([isLent, sent]).toEqual([false, []]);
    // Outside of one there is nothing to guard.
    expect(await fromPrisma<Tx>(prisma).query('update a')).toEqual([{ affected: '3' }]);
  });

  it('has no gate before others that run at the same time, nor before one of the merchant’s own', async () => {
    const { prisma, sent } = client('mysql');
    const db = fromPrisma<Tx>(prisma);
    await lent(db, async () => {
      await lent(db, tx => tx.order.update({}));
      await prisma.$transaction(tx => tx.$executeRawUnsafe('commit'), {});
      await prisma.$executeRawUnsafe('truncate a');
    });
    expect(sent.map(([id]) => id)).toEqual(['tx-1', 'tx-2', 'tx-2', 'tx-2', 'tx-3', undefined, 'tx-1']);
  });
});

describe('a transaction of the merchant’s', () => {
  /** Its transactions as Prisma 7.10 shows them, the outermost first, to the client of one of them. */
  function openIn(stack: string[], scopeId: string) {
    const { prisma } = client();
    const sent: string[] = [];
    let running = 0;
    const tx = {
      [Symbol.for('prisma.client.transaction.scope_context')]: { kind: 'nested', scopeId, scopeState: { stack } },
      async $queryRawUnsafe(sql: string) {
        sent.push(running === 0 ? sql : `${sql}, while another one runs`);
        running += 1;
        await Promise.resolve();
        running -= 1;
        if (sql === 'fails') throw new Error('of the database');
        return [];
      },
    };
    const query = fromPrisma(prisma as never).queryIn?.(tx as never);
    return { sent, query: async (sql: string) => query?.(sql) };
  }

  it('gets its statements, the outermost at once, and one within it after one that tells whether it still is', async () => {
    const outer = openIn(['outer'], 'outer');
    await outer.query('insert');
    expect(outer.sent).toEqual(['insert']);
    const inner = openIn(['outer', 'inner'], 'inner');
    await inner.query('insert');
    expect(inner.sent.slice(0, 2)).toEqual(['SELECT 1 AS turn', 'insert']);
  });

  it.each([
    ['the outermost one', [], 'outer'],
    ['one within it', ['outer'], 'inner'],
  ])('that has ended gets none: %s', async (_, stack, scopeId) => {
    const { sent, query } = openIn(stack, scopeId);
    expect(await errorOf(query('insert'))).toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining('Nothing was planned: tx is no open transaction'),
    });
    expect(sent).toEqual([]);
  });

  it.each([
    ['is asked for', (stack: string[]) => stack.push('part'), []],
    ['is answered', (stack: string[]) => queueMicrotask(() => queueMicrotask(() => stack.push('part'))), ['insert']],
  ])('tells that another one was begun within it before a statement %s', async (_, begin, sentThen) => {
    const stack = ['outer'];
    const { sent, query } = openIn(stack, 'outer');
    const asked = errorOf(query('insert'));
    begin(stack);
    const error = await asked;
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toHaveProperty(
      'message',
      'A nested transaction is open beside the plan, and Prisma may write the plan into it: await the plan before you begin one, and plan in the innermost one. Roll this transaction back.',
    );
    expect(sent).toEqual(sentThen);
  });

  it('that was ended properly meanwhile has taken its statement', async () => {
    const stack = ['outer'];
    const { query } = openIn(stack, 'outer');
    const asked = query('insert');
    queueMicrotask(() => queueMicrotask(() => stack.pop()));
    expect(await asked).toEqual([]);
  });

  it('gets all its statements at once', async () => {
    const { sent, query } = openIn(['outer'], 'outer');
    const answers = await Promise.allSettled([query('first'), query('fails'), query('last')]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(sent).toEqual(['first', 'fails, while another one runs', 'last, while another one runs']);
  });

  it('gets, if it is within another one, the first by itself, and the others once it is seen to be open still', async () => {
    const { sent, query } = openIn(['outer', 'inner'], 'inner');
    await Promise.all(['first', 'second', 'third'].map(query));
    expect(sent).toEqual(['SELECT 1 AS turn', 'first', 'SELECT 1 AS turn', 'second', 'third, while another one runs']);
  });

  it('gets no others where that one was ended after the first', async () => {
    const stack = ['outer', 'inner'];
    const { sent, query } = openIn(stack, 'inner');
    const both = ['first', 'second'].map(sql => query(sql).catch(error => error));
    await both[0];
    stack.pop();
    expect(await both[1]).toBeInstanceOf(ConfigurationError);
    expect(sent.slice(0, 2)).toEqual(['SELECT 1 AS turn', 'first']);
    expect(sent).not.toContain('second');
  });

  it('that ends while that is asked gets none', async () => {
    const stack = ['outer', 'inner'];
    const { sent, query } = openIn(stack, 'inner');
    const late = errorOf(query('insert'));
    await Promise.resolve();
    stack.pop();
    expect(await late).toBeInstanceOf(ConfigurationError);
    expect(sent).toEqual(['SELECT 1 AS turn']);
  });
});
