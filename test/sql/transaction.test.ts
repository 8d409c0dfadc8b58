// A transaction on a connection that a pool has lent.
import { describe, expect, it } from 'vitest';
import { transact } from '../../src/sql/transaction.ts';
import { errorOf } from '../support/fixtures.ts';
import { fakeTimers, whileTimePasses } from '../support/passing-time.ts';

const never = () => new Promise<never>(() => {});

/** A connection, and what is asked of it. @param answers by statement */
function lend(answers: Record<string, () => Promise<unknown>> = {}) {
  const asked: string[] = [];
  const query = async (sql: string) => {
    asked.push(sql);
    return answers[sql]?.();
  };
  const release = (isBroken: boolean) => void asked.push(isBroken ? 'closed' : 'released');
  return { lent: { client: { query }, release }, asked };
}

describe('a transaction on a connection of a pool', () => {
  it('commits what its handle has written, and releases the connection', async () => {
    const { lent, asked } = lend({ insert: async () => 1 });
    expect(await transact(lent, ['BEGIN'], tx => tx.query('insert'))).toBe(1);
    expect(asked).toEqual(['BEGIN', 'insert', 'COMMIT', 'released']);
  });

  it('sends no query of its handle after its end, also after a failure', async () => {
    for (const fails of [false, true]) {
      const { lent, asked } = lend();
      let left: typeof lent.client | undefined;
      const work = async (tx: typeof lent.client) => {
        left = tx;
        if (fails) throw new Error('shop');
      };
      await transact(lent, ['BEGIN'], work).catch(() => {});
      await expect(left?.query('late')).rejects.toThrow('has ended, so the query was not sent');
      expect(asked).not.toContain('late');
    }
  });

  const fail = () => Promise.reject(new Error('failed'));
  type Work = (tx: { query(sql: string): unknown }) => Promise<unknown>;
  const writing: Work = tx => Promise.resolve(tx.query('insert')).then(fail);
  it.each<[string, Record<string, () => Promise<unknown>>, Work, string[]]>([
    ['the work', {}, fail, ['BEGIN', 'ROLLBACK', 'released']],
    ['the work after a statement', {}, writing, ['BEGIN', 'insert', 'ROLLBACK', 'released']],
    ['BEGIN', { BEGIN: fail }, async () => {}, ['BEGIN', 'closed']],
    ['COMMIT', { COMMIT: fail }, async () => {}, ['BEGIN', 'COMMIT', 'closed']],
    ['ROLLBACK', { ROLLBACK: fail }, fail, ['BEGIN', 'ROLLBACK', 'closed']],
  ])('ends and keeps no broken connection where %s fails', async (_, answers, work, expected) => {
    const { lent, asked } = lend(answers);
    await expect(transact(lent, ['BEGIN'], work)).rejects.toThrow('failed');
    expect(asked).toEqual(expected);
  });

  it('waits five seconds for BEGIN and COMMIT, and for ROLLBACK after the error of the work', async () => {
    fakeTimers();
    const { lent, asked } = lend({ ROLLBACK: never });
    const error = await whileTimePasses(errorOf(transact(lent, ['BEGIN'], fail)), 1_000);
    expect([error, asked]).toEqual([new Error('failed'), ['BEGIN', 'ROLLBACK', 'closed']]);
    for (const hangs of ['BEGIN', 'COMMIT']) {
      const { lent, asked } = lend({ [hangs]: never });
      const error = await whileTimePasses(errorOf(transact(lent, ['BEGIN'], async () => {})), 1_000);
      expect(error).toHaveProperty('message', `The database did not answer ${hangs} within 5000 ms.`);
      expect(asked.at(-1)).toBe('closed');
    }
  });
});
