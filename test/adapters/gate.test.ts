// The gate before a transaction of MySQL: which statements pass, in which order, and what is made of an error that undid it.
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { Gate, gateBefore, guard, lendGuarded, OWN_STATEMENT } from '../../src/adapters/gate.ts';
import { endOf, gateOf, type RawConnection } from '../../src/adapters/mysql2.ts';
import { RolledBack } from '../../src/sql/bounded.ts';
import { errorOf } from '../support/fixtures.ts';

const mysqlError = (errno: number) => Object.assign(new Error(`ERROR ${errno}`), { errno });
const DEADLOCK = mysqlError(1213);

/** A database that keeps what it was sent, and answers when it is told to. */
function database() {
  const sent: string[] = [];
  const waiting: PromiseWithResolvers<unknown>[] = [];
  const send = (text: string) => () => {
    sent.push(text);
    const answer = Promise.withResolvers<unknown>();
    waiting.push(answer);
    return answer.promise;
  };
  const answerNext = async (error?: unknown) => {
    const answer = waiting.shift();
    if (error) answer?.reject(error);
    else answer?.resolve('answer');
    await setImmediate();
  };
  return { sent, send, answerNext };
}

/** Sends a statement that is answered at once. */
const quick = (gate: Gate, text: string) => gate.pass(text, async () => 'answer');
const failing = (gate: Gate, text: string, error: unknown) => gate.pass(text, () => Promise.reject(error));

describe('a gate', () => {
  it('lets statements pass one at a time, in their order', async () => {
    const gate = new Gate();
    const { sent, send, answerNext } = database();
    await gate.lend(async () => {
      const all = Promise.all(['one', 'two', 'three'].map(text => gate.pass(text, send(text))));
      await setImmediate();
      expect(sent).toEqual(['one']);
      await answerNext();
      expect(sent).toEqual(['one', 'two']);
      await answerNext();
      await answerNext();
      expect(await all).toEqual(['answer', 'answer', 'answer']);
    });
    expect(sent).toEqual(['one', 'two', 'three']);
  });

  it('goes on after an error that undoes one statement only', async () => {
    const gate = new Gate();
    const taken = mysqlError(1062);
    await gate.lend(async () => {
      expect(await errorOf(failing(gate, 'insert', taken))).toBe(taken);
      expect(await quick(gate, 'update')).toBe('answer');
    });
  });

  it.each([
    ['a deadlock', DEADLOCK],
    ['a conflict in a group', mysqlError(3101)],
    ['a row that is newer than the snapshot', mysqlError(1020)],
    ['a lock that was waited for too long', mysqlError(1205)],
    ['no room for locks', mysqlError(1206)],
    ['one of them in words of Prisma', Object.assign(new Error('write conflict'), { code: 'P2034' })],
  ])('sends nothing after %s, and says that nothing was committed', async (_, error) => {
    const gate = new Gate();
    const { sent, send, answerNext } = database();
    const lent = gate.lend(async () => {
      const first = errorOf(gate.pass('one', send('one')));
      const second = errorOf(gate.pass('two', send('two')));
      await setImmediate();
      await answerNext(error);
      expect(await first).toBe(error);
      expect(await second).toBeInstanceOf(RolledBack);
      expect(await errorOf(gate.pass('three', send('three')))).toMatchObject({
        message: expect.stringContaining('the database has undone all of it, and takes nothing more'),
        cause: error,
      });
    });
    // The work has ignored it all.
    const failure = await errorOf(lent);
    expect(failure).toBeInstanceOf(RolledBack);
    expect(failure).toHaveProperty('cause', error);
    expect(sent).toEqual(['one']);
  });

  it('tells the first of two errors that undo, whatever the work throws', async () => {
    const gate = new Gate();
    const error = await errorOf(
      gate.lend(async () => {
        await errorOf(failing(gate, 'one', DEADLOCK));
        await errorOf(failing(gate, 'two', mysqlError(1205)));
        throw new Error('of the shop');
      }),
    );
    expect(error).toBeInstanceOf(RolledBack);
    expect(error).toHaveProperty('cause', DEADLOCK);
  });

  it('throws what the work throws, if nothing was undone', async () => {
    const gate = new Gate();
    const thrown = new Error('of the shop');
    expect(await errorOf(gate.lend(() => Promise.reject(thrown)))).toBe(thrown);
  });

  it.each([
    ['a procedure may have ended it before', async (gate: Gate) => quick(gate, 'call move_money()')],
    [
      'a statement before it was not answered',
      async (gate: Gate) => errorOf(failing(gate, 'update', new Error('PROTOCOL_SEQUENCE_TIMEOUT'))),
    ],
  ])('does not say that all was undone where %s', async (_, before) => {
    const gate = new Gate();
    const error = await errorOf(
      gate.lend(async () => {
        await before(gate);
        await failing(gate, 'update', DEADLOCK);
      }),
    );
    expect(error).not.toBeInstanceOf(RolledBack);
    expect(error).toMatchObject({ message: expect.stringContaining('A deadlock'), cause: DEADLOCK });
  });

  it('is sure again of another transaction', async () => {
    const gate = new Gate();
    const error = await errorOf(
      gate.lend(async () => {
        await quick(gate, "select 'call'");
        await failing(gate, 'update', DEADLOCK);
      }),
    );
    expect(error).toBeInstanceOf(RolledBack);
  });

  it.each(['commit', 'begin', 'create table t (a int)', 'set autocommit = 1'])(
    'refuses what the work must not send, and sends it not: %s',
    async text => {
      const gate = new Gate();
      const { sent, send } = database();
      await gate.lend(async () => {
        await expect(gate.pass(text, send(text))).rejects.toThrow(
          'tx is one transaction, which the inbox commits together with its mark. So BEGIN, COMMIT and ROLLBACK are refused',
        );
      });
      expect(sent).toEqual([]);
    },
  );

  it('lets everything pass before it lends, and then what ends the transaction or is ours', async () => {
    const gate = new Gate();
    expect(await quick(gate, 'set autocommit = 0')).toBe('answer');
    await gate.lend(async () => {});
    await expect(quick(gate, 'update')).rejects.toThrow('The transaction has ended: onPayment has returned');
    await expect(quick(gate, ` ${OWN_STATEMENT}update`)).rejects.toThrow('The transaction has ended');
    await expect(quick(gate, 'update; commit')).rejects.toThrow('The transaction has ended');
    await expect(quick(gate, 'commit; update')).rejects.toThrow('The transaction has ended');
    for (const text of [`${OWN_STATEMENT}update`, 'COMMIT', ' rollback ; ', 'Commit;'])
      expect(await quick(gate, text)).toBe('answer');
  });

  it('rejects if statements still run when the work returns, says how many, and sends none of those that wait', async () => {
    const gate = new Gate();
    const { sent, send, answerNext } = database();
    const forgotten: Promise<unknown>[] = [];
    const error = await errorOf(
      gate.lend(async () => {
        await quick(gate, 'awaited');
        forgotten.push(gate.pass('one', send('one')), errorOf(gate.pass('two', send('two'))));
        await setImmediate();
      }),
    );
    expect(error).toHaveProperty(
      'message',
      expect.stringContaining(
        'onPayment returned while 2 of its queries ran, so nothing was committed. The transaction has ended',
      ),
    );
    await answerNext();
    expect(await Promise.all(forgotten)).toEqual([
      'answer',
      expect.objectContaining({ message: expect.stringContaining('The transaction has ended') }),
    ]);
    expect(sent).toEqual(['one']);
  });

  it('is taken away once, by what ends the transaction', async () => {
    const open = vi.fn();
    const gate = new Gate(open);
    await gate.lend(async () => void (await quick(gate, 'update')));
    expect(open).not.toHaveBeenCalled();
    let wasOpen = false;
    await gate.pass('COMMIT', async () => {
      wasOpen = open.mock.calls.length === 1;
    });
    expect(wasOpen).toBe(true);
    await quick(gate, 'rollback');
    const rollback = vi.fn(async () => {});
    await gate.end(rollback);
    expect([open.mock.calls.length, rollback.mock.calls.length]).toEqual([1, 0]);
  });

  it('ends a transaction that was left open, once, also over a broken connection', async () => {
    const open = vi.fn();
    const gate = new Gate(open);
    const rollback = vi.fn(() => Promise.reject(new Error('broken')));
    await gate.end(rollback);
    await gate.end(rollback);
    expect([open.mock.calls.length, rollback.mock.calls.length]).toEqual([1, 1]);
    await expect(quick(gate, 'update')).rejects.toThrow('The transaction has ended');
  });

  it('stands before the transaction that it was put before', async () => {
    const [one, other] = [{}, {}];
    guard(one, new Gate());
    const gate = new Gate();
    guard(other, gate);
    const seen: unknown[] = [];
    await lendGuarded(other, async tx => {
      seen.push(tx);
      await failing(gate, 'update', mysqlError(1062)).catch(() => {});
    });
    expect(seen[0]).toBe(other);
    await expect(lendGuarded(other, () => failing(gate, 'update', DEADLOCK))).rejects.toBeInstanceOf(RolledBack);
  });
});

describe('a gate before methods of a connection', () => {
  class Connection {
    sent: string[] = [];
    async query(text: string) {
      this.sent.push(text);
    }
    async execute(text: string) {
      this.sent.push(text);
    }
  }
  const wrap = (gate: Gate, send: Connection['query']) => (text: string) => gate.pass(text, () => send(text));

  it('puts back what was there, and leaves the class alone', async () => {
    const connection = new Connection();
    const own = async (text: string) => void connection.sent.push(`own ${text}`);
    Object.defineProperty(connection, 'execute', { value: own, configurable: true, writable: true, enumerable: false });
    const gate = gateBefore(connection, { query: wrap, execute: wrap });
    expect([Object.hasOwn(connection, 'query'), connection.execute === own]).toEqual([true, false]);
    await gate.lend(async () => {
      await connection.query('one');
      await connection.execute('two');
      await expect(connection.query('commit')).rejects.toThrow('BEGIN, COMMIT and ROLLBACK are refused');
    });
    await connection.query('commit');
    expect(connection.sent).toEqual(['one', 'own two', 'commit']);
    expect([Object.hasOwn(connection, 'query'), connection.query]).toEqual([false, Connection.prototype.query]);
    expect(Object.getOwnPropertyDescriptor(connection, 'execute')).toEqual({
      value: own,
      configurable: true,
      writable: true,
      enumerable: false,
    });
  });
});

describe('a gate before a connection of mysql2', () => {
  /** A connection with callbacks, as mysql2 has it. */
  function connection(answer: (args: unknown[]) => unknown[]) {
    const sent: unknown[][] = [];
    const send = (...args: unknown[]) => {
      sent.push(args.slice(0, -1));
      (args.at(-1) as (...answer: unknown[]) => void)(...answer(args));
    };
    const raw: RawConnection = { query: send, execute: send };
    return { raw, sent };
  }
  const ask = (raw: RawConnection, ...args: unknown[]) =>
    new Promise<unknown[]>(resolve => raw.query(...args, (...answer: unknown[]) => resolve(answer)));

  it('passes every argument on, and every part of the answer back', async () => {
    const { raw, sent } = connection(() => [null, ['row'], ['field']]);
    const gate = gateOf(raw);
    await gate.lend(async () => {
      expect(await ask(raw, 'select ?', ['a'])).toEqual([null, ['row'], ['field']]);
      expect(await ask(raw, { sql: 'select 1' })).toEqual([null, ['row'], ['field']]);
    });
    expect(sent).toEqual([['select ?', ['a']], [{ sql: 'select 1' }]]);
  });

  it('answers an error to the callback', async () => {
    const { raw } = connection(() => [DEADLOCK]);
    const gate = gateOf(raw);
    const error = await errorOf(gate.lend(async () => expect(await ask(raw, 'update')).toEqual([DEADLOCK])));
    expect(error).toBeInstanceOf(RolledBack);
  });

  it.each([
    ['a text', 'commit'],
    ['an object', { sql: 'commit' }],
  ])('refuses what ends the transaction, given as %s', async (_, query) => {
    const { raw, sent } = connection(() => [null]);
    const gate = gateOf(raw);
    await gate.lend(async () => {
      const [refusal] = await ask(raw, query);
      expect(refusal).toMatchObject({ message: expect.stringContaining('COMMIT and ROLLBACK are refused') });
    });
    expect(sent).toEqual([]);
  });

  it('takes a query of no text at all for a statement that mysql2 will refuse', async () => {
    const { raw, sent } = connection(() => [new Error('of mysql2')]);
    const gate = gateOf(raw);
    await gate.lend(async () => {
      for (const query of [undefined, {}]) expect(await ask(raw, query)).toEqual([new Error('of mysql2')]);
    });
    expect(sent).toEqual([[undefined], [{}]]);
  });

  it('refuses streams, which nobody can wait for', () => {
    const { raw } = connection(() => [null]);
    gateOf(raw);
    expect(() => raw.query('select 1')).toThrow('tx has no streams: read them with a connection of your own.');
    expect(() => raw.execute('select 1', ['a'])).toThrow('tx has no streams');
  });

  it('is taken away by ROLLBACK, whether that is answered or not', async () => {
    for (const answer of [[null], [new Error('broken')]]) {
      const { raw, sent } = connection(() => answer);
      const { query } = raw;
      const gate = gateOf(raw);
      await endOf(gate, raw);
      expect([sent, raw.query === query]).toEqual([[['ROLLBACK']], true]);
      await endOf(gate, raw);
      expect(sent).toHaveLength(1);
    }
  });
});
