// The migrations of a table: which of them have run, by its comment, and the script of all of them.
import { describe, expect, it } from 'vitest';
import { ddlOf, migrate } from '../../src/sql/table.ts';

const MIGRATIONS = { steps: ['one', 'two'], lock: 'lock', unlock: 'unlock', comment: 'comment', setComment: String };

/** The statements after the comment was read. @param locked what the lock answers */
async function run(comment: unknown, steps = MIGRATIONS.steps, locked: string | null = '1') {
  const asked: string[] = [];
  const query = async (sql: string) => {
    asked.push(sql);
    if (sql === 'fails') throw new Error(sql);
    return [{ locked, comment }];
  };
  const database = { queryIn: () => query, transaction: (work: (tx: object) => Promise<void>) => work({}) };
  const error = await migrate(database as never, { ...MIGRATIONS, steps }).catch(({ message }: Error) => message);
  return { error, asked: asked.slice(2) };
}

const DONE = ['payment-gateway-sdk, version 2', 'unlock'];

describe('the migrations of a table', () => {
  it.each<[string, unknown, string[]]>([
    ['of none', undefined, ['one', 'two', ...DONE]],
    ['without a comment', null, ['one', 'two', ...DONE]],
    ['of the first version', 'payment-gateway-sdk, version 1', ['two', ...DONE]],
    ['of this version', 'payment-gateway-sdk, version 2', ['unlock']],
    ['of a later version', 'payment-gateway-sdk, version 12', ['unlock']],
    ['with a comment of somebody else', 'ours: payment-gateway-sdk, version 2', ['one', 'two', ...DONE]],
    ['with a continued comment', 'payment-gateway-sdk, version 2 (do not touch)', ['one', 'two', ...DONE]],
    ['with a comment in other words', 'payment-gateway-sdk, version two', ['one', 'two', ...DONE]],
  ])('that are left to run %s', async (_, comment, asked) => {
    expect(await run(comment)).toEqual({ error: undefined, asked });
  });

  it('end their lock after an error, and ask for nothing while another process has it', async () => {
    expect(await run(null, ['one', 'fails', 'two'])).toEqual({ error: 'fails', asked: ['one', 'fails', 'unlock'] });
    for (const locked of ['0', null]) {
      const { error, asked } = await run(null, ['one'], locked);
      expect([error, asked]).toEqual([expect.stringContaining('Another process'), []]);
    }
  });

  it('are a script of statements', () => {
    expect(ddlOf(MIGRATIONS)).toBe('one;\ntwo;\npayment-gateway-sdk, version 2;\n');
  });
});
