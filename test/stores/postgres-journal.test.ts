import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { postgresJournal } from 'payment-gateway-sdk/postgres';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { record } from '../support/fixtures.ts';
import { journalContract } from '../support/journal-contract.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres, postgresPool, uniqueName } from '../support/stores.ts';

describe.skipIf(lacks(hasPostgres, 'postgresJournal: no PostgreSQL at 127.0.0.1:5432'))(
  'postgresJournal',
  () => {
    const table = uniqueName('journal');
    let pool: pg.Pool;
    let other: pg.Pool;

    beforeAll(async () => {
      pool = postgresPool();
      other = postgresPool();
      await postgresJournal(pool, { table }).migrate();
    });
    afterAll(async () => {
      await pool.query(`drop table ${table}`);
      await Promise.all([pool.end(), other.end()]);
    });

    journalContract('keeps what every journal keeps', () => [
      postgresJournal(pool, { table }),
      postgresJournal(other, { table }),
    ]);

    const attempt = () => ({
      scope: 'terminal-1',
      reference: randomUUID() as string,
      token: randomUUID() as string,
      paymentType: 'DEPOSIT' as const,
      paymentMethod: 'CARD',
      amount: '25.5',
      currency: 'EUR',
      bodyHash: 'hash',
      timeoutMs: 1000,
    });

    it('writes an attempt down durably, even where the database commits lazily', async () => {
      const lazy = postgresPool({ max: 1, options: '-c synchronous_commit=off' });
      const journal = postgresJournal(lazy, { table });
      let flushed = 0;
      for (let tries = 0; tries < 30; tries++) {
        await journal.begin(attempt());
        const { rows } = await lazy.query(
          'select pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn() as is_flushed',
        );
        if (rows[0].is_flushed) flushed += 1;
      }
      expect(flushed).toBeGreaterThan(15);
      await lazy.end();
    });

    it('lists the doubts of its own scope, or of all', async () => {
      const mine = { ...attempt(), scope: uniqueName('scope') };
      const [scoped, all] = [
        postgresJournal(pool, { table, scope: mine.scope }),
        postgresJournal(pool, { table }),
      ];
      await all.begin(mine);
      await all.begin(attempt());
      expect((await scoped.inDoubt()).map(({ reference }) => reference)).toEqual([mine.reference]);
      expect((await all.inDoubt()).length).toBeGreaterThan(1);
    });

    it('gives up on a pool that is used up, except where giving up would lose sight of an attempt', {
      timeout: 15_000,
    }, async () => {
      const small = postgresPool({ max: 1 });
      const taken = await small.connect();
      await expect(postgresJournal(small, { table }).read(attempt())).rejects.toThrow(
        'Postgres did not answer in time',
      );
      const beginning = postgresJournal(small, { table }).begin(attempt());
      taken.release();
      expect(await beginning).toBeUndefined();
      await small.end();
    });

    it('reads what it wrote, though the driver was taught to leave dates and JSON as text', async () => {
      const asText = { getTypeParser: () => (text: string) => text };
      const taught = postgresPool({ types: asText as never });
      const journal = postgresJournal(taught, { table });
      const one = attempt();
      await journal.begin(one);
      const payment = JSON.parse(record('created, unwrapped'));
      await journal.keepStray(one, one.token, randomUUID());
      await journal.accept(one, one.token, { payment, nextAction: { type: 'wait' } });
      expect(await journal.read(one)).toMatchObject({
        since: expect.any(Date),
        strayIds: [expect.any(String)],
        result: { payment },
      });
      await taught.end();
    });

    it('lets one of many begin under the strictest isolation too', async () => {
      const strict = postgresPool({ options: '-c default_transaction_isolation=serializable' });
      const { reference } = attempt();
      const begun = await Promise.all(
        Array.from({ length: 20 }, () =>
          postgresJournal(strict, { table }).begin({ ...attempt(), reference }),
        ),
      );
      expect(begun.filter(standing => standing === undefined)).toHaveLength(1);
      await strict.end();
    });

    it('takes no client in place of the pool: in a transaction an attempt could be rolled back', async () => {
      const client = await pool.connect();
      expect(() => postgresJournal(client as never, { table })).toThrow('takes the pool itself');
      client.release();
    });

    it('refuses a table name that is none', () => {
      expect(() => postgresJournal(pool, { table: 'a; drop table b' })).toThrow('table must be a plain name');
    });

    it('makes the very table that the README shows', async () => {
      const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
      const [, sql = ''] = /```sql\n(CREATE TABLE payment_gateway_journal[\s\S]*?)```/.exec(readme) ?? [];
      const [shown, made] = [uniqueName('shown'), uniqueName('made')];
      await pool.query(`create schema ${shown}; create schema ${made}`);
      await pool.query(sql.replace('payment_gateway_journal', `${shown}.journal`));
      const journals = Array.from({ length: 8 }, () => postgresJournal(pool, { table: `${made}.journal` }));
      await Promise.all(journals.map(journal => journal.migrate()));
      const shapeOf = async (schema: string) => {
        const columns = await pool.query(
          'select column_name, data_type, udt_name, is_nullable, column_default from information_schema.columns where table_schema = $1 order by ordinal_position',
          [schema],
        );
        const keys = await pool.query(
          'select pg_get_constraintdef(oid) as key from pg_constraint where conrelid = $1::regclass',
          [`${schema}.journal`],
        );
        return [columns.rows, keys.rows];
      };
      expect(await shapeOf(shown)).toEqual(await shapeOf(made));
      await pool.query(`drop schema ${shown} cascade; drop schema ${made} cascade`);
    });
  },
);
