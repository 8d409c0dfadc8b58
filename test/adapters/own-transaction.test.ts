// A transaction on a connection that a pool has lent: how it begins and ends, and when nobody may have that connection again.
import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { type Borrowed, inTransaction } from '../../src/adapters/own-transaction.ts';
import { errorOf } from '../support/fixtures.ts';
import { fakeTimers, whileTimePasses } from '../support/passing-time.ts';

const BEGIN = ['SET LEVEL', 'BEGIN'];
const never = () => new Promise<never>(() => {});

/** A connection that keeps what it was sent. @param answers by statement; all others answer their own text */
function connection(answers: Record<string, () => Promise<string>> = {}) {
  const sent: string[] = [];
  const released: (Error | undefined)[] = [];
  const events = new EventEmitter();
  const answer = (sql: string) => {
    sent.push(sql);
    return answers[sql]?.() ?? Promise.resolve(sql);
  };
  const borrowed: Borrowed<string> = {
    events,
    query: async (sql, values) => [{ sql: await answer(sql), values }],
    control: answer,
    release: broken => void released.push(broken),
  };
  return { borrowed, sent, released, events };
}

const broken = new Error('the connection is broken');

describe('a transaction', () => {
  it('begins, runs its work, commits, and gives the connection back', async () => {
    const { borrowed, sent, released, events } = connection();
    const value = await inTransaction(borrowed, BEGIN, async query => {
      expect(events.listenerCount('error')).toBe(1);
      return query('update', ['a']);
    });
    expect(value).toEqual([{ sql: 'update', values: ['a'] }]);
    expect([sent, released, events.listenerCount('error')]).toEqual([
      ['SET LEVEL', 'BEGIN', 'update', 'COMMIT'],
      [undefined],
      0,
    ]);
  });

  it('is rolled back if its work fails, and gives the connection back', async () => {
    const { borrowed, sent, released, events } = connection();
    const thrown = new Error('of the shop');
    expect(await errorOf(inTransaction(borrowed, BEGIN, () => Promise.reject(thrown)))).toBe(thrown);
    expect([sent, released, events.listenerCount('error')]).toEqual([
      ['SET LEVEL', 'BEGIN', 'ROLLBACK'],
      [undefined],
      0,
    ]);
  });

  it('that does not begin runs no work', async () => {
    const { borrowed, sent, released } = connection({ BEGIN: () => Promise.reject(broken) });
    expect(await errorOf(inTransaction(borrowed, BEGIN, async () => 'done'))).toBe(broken);
    expect([sent, released]).toEqual([['SET LEVEL', 'BEGIN', 'ROLLBACK'], [undefined]]);
  });

  it('rejects where COMMIT does not answer as it should', async () => {
    const { borrowed, sent, released } = connection({ COMMIT: async () => 'ROLLBACK' });
    const check = (answer: string) => {
      if (answer !== 'COMMIT') throw broken;
    };
    expect(await errorOf(inTransaction(borrowed, BEGIN, async () => 'done', check))).toBe(broken);
    expect([sent.slice(2), released]).toEqual([['COMMIT', 'ROLLBACK'], [undefined]]);
  });

  it('ends a connection that broke, and sends nothing more over it', async () => {
    const { borrowed, sent, released, events } = connection();
    const thrown = new Error('of the shop');
    const failing = inTransaction(borrowed, BEGIN, async () => {
      events.emit('error', broken);
      throw thrown;
    });
    expect(await errorOf(failing)).toBe(thrown);
    expect([sent, released]).toEqual([BEGIN, [broken]]);
  });

  it('ends a connection whose ROLLBACK failed', async () => {
    const { borrowed, released } = connection({ ROLLBACK: () => Promise.reject(broken) });
    const thrown = new Error('of the shop');
    expect(await errorOf(inTransaction(borrowed, BEGIN, () => Promise.reject(thrown)))).toBe(thrown);
    expect(released).toEqual([broken]);
  });

  it('ends a connection over which a statement of its own was not answered', async () => {
    const { borrowed, sent, released } = connection({ update: never });
    const late = new Error('late');
    const failing = inTransaction(borrowed, BEGIN, async query => {
      await query('select');
      void query('update');
      throw late;
    });
    expect(await errorOf(failing)).toBe(late);
    expect([sent, released]).toEqual([['SET LEVEL', 'BEGIN', 'select', 'update'], [late]]);
  });

  it('keeps a connection whose statements failed, but were answered', async () => {
    const { borrowed, sent, released } = connection({ update: () => Promise.reject(new Error('of the database')) });
    await errorOf(inTransaction(borrowed, BEGIN, async query => query('update')));
    expect([sent.at(-1), released]).toEqual(['ROLLBACK', [undefined]]);
  });

  it.each(['BEGIN', 'COMMIT'])('waits five seconds for %s, and ends the connection then', async control => {
    fakeTimers();
    const { borrowed, sent, released } = connection({ [control]: never });
    const error = await whileTimePasses(errorOf(inTransaction(borrowed, BEGIN, async () => 'done')), 1_000);
    expect(error).toEqual(new Error(`The database did not answer ${control} within 5000 ms.`));
    expect([sent.at(-1), released]).toEqual([control, [error]]);
  });

  it('waits five seconds for ROLLBACK, and tells why it was sent', async () => {
    fakeTimers();
    const { borrowed, released } = connection({ ROLLBACK: never });
    const thrown = new Error('of the shop');
    const failing = errorOf(inTransaction(borrowed, BEGIN, () => Promise.reject(thrown)));
    expect(await whileTimePasses(failing, 1_000)).toBe(thrown);
    expect(released).toEqual([new Error('The database did not answer ROLLBACK within 5000 ms.')]);
  });
});
