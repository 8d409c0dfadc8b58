// The tx of postgresInbox under the real Drizzle and Kysely, which live in a package of their own: test/orms.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Credits, completedPayment, openCallbacks, openCreditedPool } from '../support/credits.ts';
import { lacks } from '../support/skips.ts';
import { hasPostgres } from '../support/stores.ts';

const folder = fileURLToPath(new URL('../orms/', import.meta.url));
const require = createRequire(new URL('../orms/package.json', import.meta.url));

/** Installs them, unless they are there. */
function installed(): boolean {
  if (existsSync(`${folder}node_modules`)) return true;
  try {
    // On Windows npm is a script, which only a shell runs.
    const shell = process.platform === 'win32';
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: folder,
      shell,
      timeout: 120_000,
    });
    return true;
  } catch (error) {
    console.warn(String(error));
    return false;
  }
}

const missing =
  lacks(hasPostgres, 'ORMs over postgresInbox: no PostgreSQL at 127.0.0.1:5432') ||
  lacks(installed(), 'ORMs over postgresInbox: npm ci in test/orms failed');

/** What an onPayment does with an ORM over its tx. */
interface Orm {
  credit(id: string): Promise<unknown>;
  /** How often a payment is credited, as the transaction sees it. */
  times(id: string): Promise<number>;
  sql(text: string): Promise<unknown>;
  /** Each begins a transaction of the ORM's own, and credits in it. */
  transactions: Record<string, (id: string) => Promise<unknown>>;
}

function drizzleOver(tx: pg.PoolClient, table: string): Orm {
  const { drizzle } = require('drizzle-orm/node-postgres');
  const { pgTable, uuid } = require('drizzle-orm/pg-core');
  const { eq, sql } = require('drizzle-orm');
  const db = drizzle({ client: tx });
  const creditsTable = pgTable(table, { paymentId: uuid('payment_id').notNull() });
  const creditIn = (inner: typeof db, paymentId: string) => inner.insert(creditsTable).values({ paymentId });
  return {
    credit: id => creditIn(db, id).returning(),
    times: async id => {
      const rows = await db
        .select()
        .from(creditsTable)
        .where(eq(creditsTable.paymentId, id))
        .prepare('times')
        .execute();
      return rows.length;
    },
    sql: text => db.execute(sql.raw(text)),
    transactions: {
      plain: id => db.transaction((inner: typeof db) => creditIn(inner, id)),
      serializable: id => db.transaction((inner: typeof db) => creditIn(inner, id), { isolationLevel: 'serializable' }),
      nested: id => db.transaction((outer: typeof db) => outer.transaction((inner: typeof db) => creditIn(inner, id))),
    },
  };
}

function kyselyOver(tx: pg.PoolClient, table: string): Orm {
  const { Kysely, PostgresDialect, sql } = require('kysely');
  const lent = { query: tx.query, release: () => {} };
  const pool = { connect: async () => lent, end: async () => {} };
  const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
  const creditIn = (inner: typeof db, id: string) => inner.insertInto(table).values({ payment_id: id }).execute();
  return {
    credit: id => creditIn(db, id),
    times: async id => (await db.selectFrom(table).selectAll().where('payment_id', '=', id).execute()).length,
    sql: text => sql.raw(text).execute(db),
    transactions: {
      plain: id => db.transaction().execute((inner: typeof db) => creditIn(inner, id)),
      serializable: id =>
        db
          .transaction()
          .setIsolationLevel('serializable')
          .execute((inner: typeof db) => creditIn(inner, id)),
      nested: id =>
        db
          .connection()
          .execute((inner: typeof db) => inner.transaction().execute((own: typeof db) => creditIn(own, id))),
      controlled: async id => {
        const inner = await db.startTransaction().execute();
        await creditIn(inner, id);
        await inner.commit().execute();
      },
    },
  };
}

const orms = [
  ['drizzle({ client: tx })', drizzleOver, ['plain', 'serializable', 'nested']],
  ['Kysely with a pool that hands out tx', kyselyOver, ['plain', 'serializable', 'nested', 'controlled']],
] as const;

it.skipIf(missing)('Drizzle finds the pg of this package, and no other', () => {
  const fromDrizzle = createRequire(require.resolve('drizzle-orm/node-postgres'));
  expect(fromDrizzle.resolve('pg')).toBe(createRequire(import.meta.url).resolve('pg'));
});

describe.skipIf(missing).each(orms)('%s', (_, over, kinds) => {
  let pool: pg.Pool;
  let credits: Credits;
  let close: () => Promise<void>;
  let id: string;
  let errors: unknown[];
  let effect: (orm: Orm) => Promise<unknown>;
  let deliver: () => Promise<string>;

  beforeAll(async () => {
    ({ pool, credits, close } = await openCreditedPool());
  });
  afterAll(() => close());
  beforeEach(() => {
    id = completedPayment().id;
    errors = [];
    effect = orm => orm.credit(id);
    const callbacks = openCallbacks({
      inbox: credits.inboxOf(pool),
      onPayment: (_payment, { tx }) => effect(over(tx, credits.table)),
      onError: error => void errors.push(error),
    });
    deliver = () => callbacks.deliver(id);
  });

  const state = async () => ({ credited: await credits.times(id), marks: await credits.marksOf(id) });
  const NOTHING = { credited: 0, marks: [] };
  const ONCE = { credited: 1, marks: ['COMPLETED'] };

  /** The messages of an error and of its causes: an ORM wraps what the driver throws. */
  function messagesOf(error: unknown): string[] {
    return error instanceof Error ? [error.message, ...messagesOf(error.cause)] : [];
  }

  /** After the merchant has corrected onPayment. */
  async function expectOnceNextTime(): Promise<void> {
    expect(await state()).toEqual(NOTHING);
    effect = orm => orm.credit(id);
    expect([await deliver(), await deliver()]).toEqual(['200 handled', '200 handled before']);
    expect(await state()).toEqual(ONCE);
  }

  it('reads and writes in the transaction of the mark', async () => {
    effect = async orm => {
      await orm.credit(id);
      expect([await orm.times(id), await credits.times(id)]).toEqual([1, 0]);
    };
    expect([await deliver(), await state()]).toEqual(['200 handled', ONCE]);
    expect([await deliver(), await state()]).toEqual(['200 handled before', ONCE]);
  });

  it('keeps nothing of an effect that throws', async () => {
    effect = async orm => {
      await orm.credit(id);
      throw new Error('shop');
    };
    expect(await deliver()).toBe('503 failed');
    await expectOnceNextTime();
  });

  it.each(kinds)('may not begin a transaction of its own: %s', async kind => {
    effect = async orm => {
      await orm.credit(id);
      await orm.transactions[kind]?.(id);
    };
    expect(await deliver()).toBe('503 failed');
    expect(messagesOf(errors[0])).toContainEqual(
      expect.stringMatching(/BEGIN, COMMIT and ROLLBACK are refused: .*The transaction\(\) of an ORM .*: leave it out/),
    );
    await expectOnceNextTime();
  });

  it.each(kinds)('credits nothing in a transaction that was refused, also where that is ignored: %s', async kind => {
    effect = async orm => {
      await orm.transactions[kind]?.(id).catch(() => {});
      await orm.credit(id);
    };
    expect([await deliver(), await state()]).toEqual(['200 handled', ONCE]);
  });

  it('can undo a part of the effect by a savepoint, also within another one', async () => {
    effect = async orm => {
      await orm.sql('savepoint outer_part');
      await orm.credit(id);
      await orm.sql('savepoint inner_part');
      await orm.credit(id);
      await orm.sql('select 1/0').catch(() => orm.sql('rollback to savepoint inner_part'));
      await orm.sql('release savepoint outer_part');
    };
    expect([await deliver(), await state()]).toEqual(['200 handled', ONCE]);
  });

  it('cannot ignore an SQL error', async () => {
    effect = async orm => {
      await orm.credit(id);
      await orm.sql('select 1/0').catch(() => {});
    };
    expect(await deliver()).toBe('503 failed');
    expect(errors[0]).toMatchObject({
      message: expect.stringContaining('onPayment ignored an SQL error'),
      cause: { code: '22012' },
    });
    await expectOnceNextTime();
  });

  it('is repeated after a deadlock, which it reports in its own way', async () => {
    let tries = 0;
    effect = async orm => {
      await orm.credit(id);
      tries += 1;
      if (tries < 3) await orm.sql(`do $$ begin raise exception 'met another' using errcode = '40P01'; end $$`);
    };
    expect([await deliver(), tries, await state()]).toEqual(['200 handled', 3, ONCE]);
  });

  it('writes nothing once onPayment has returned', async () => {
    const left: Orm[] = [];
    effect = async orm => {
      left.push(orm);
      await orm.credit(id);
    };
    expect(await deliver()).toBe('200 handled');
    const late = await left[0]?.credit(id).catch(messagesOf);
    expect(late).toContainEqual(expect.stringContaining('onPayment has returned'));
    expect(await state()).toEqual(ONCE);
  });
});
