// What every SqlDatabase must keep, no matter which library it is made of.
import { deepEqual, equal, notEqual, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type SqlDatabase, type SqlQuery, sqlCodeOf } from '../sql/database.ts';
import type { TestFunction } from './test-function.ts';

/** How the suite runs, and over what. */
export interface SqlDatabaseSuiteOptions<Tx> {
  /** Registers a test. */
  test: TestFunction;
  /** Makes the database. Called once per test; the suite creates tables of its own in it, and drops them. */
  make: () => SqlDatabase<Tx> | Promise<SqlDatabase<Tx>>;
  /** Runs a statement with the library's own transaction, as `onPayment` would. */
  execute: (tx: Tx, sql: string) => PromiseLike<unknown>;
}

/**
 * Registers the tests that every {@link SqlDatabase} must pass. One that passes them and `inboxSuite` over
 * `postgresInbox(yours)` keeps the promise of exactly once.
 *
 * @example
 * sqlDatabaseSuite({ test, make: () => fromSequelize(sequelize), execute: (transaction, sql) => sequelize.query(sql, { transaction }) });
 */
export function sqlDatabaseSuite<Tx>({ test, make, execute }: SqlDatabaseSuiteOptions<Tx>): void {
  const withTable = (name: string, run: (database: SqlDatabase<Tx>, table: string) => Promise<void>) =>
    test(`a database ${name}`, async () => {
      const database = await make();
      const table = `payment_gateway_suite_${randomUUID().slice(0, 8)}`;
      await database.query(`CREATE TABLE ${table} (line text PRIMARY KEY)`);
      try {
        await run(database, table);
      } finally {
        await database.query(`DROP TABLE ${table}`);
      }
    });
  const linesOf = async (query: SqlQuery, table: string) =>
    (await query(`SELECT line FROM ${table} ORDER BY line`)).map(({ line }) => line);

  withTable('takes texts and nulls for its placeholders, in any order, and answers rows of them', async database => {
    for (const odd of [
      '',
      "it's; drop table --",
      '{"a":[1]}',
      '{a,b}',
      'true',
      '1e3',
      'ZAŻÓŁĆ 😀',
      '$1 ? :name \\',
      null,
    ]) {
      const rows = await database.query('SELECT $2::text AS second, $1::text AS first, $2::text AS again', [
        'one',
        odd,
      ]);
      deepEqual(
        rows.map(row => ({ ...row })),
        [{ second: odd, first: 'one', again: odd }],
      );
    }
  });

  withTable('answers an empty array where there are no rows', async (database, table) => {
    deepEqual([...(await database.query(`SELECT line FROM ${table}`))], []);
    deepEqual([...(await database.query(`INSERT INTO ${table} VALUES ($1::text)`, ['a']))], []);
  });

  withTable('answers the rows of INSERT, UPDATE and DELETE with RETURNING', async (database, table) => {
    const returning = async (sql: string) => (await database.query(`${sql} RETURNING line`)).map(({ line }) => line);
    deepEqual(await returning(`INSERT INTO ${table} VALUES ('a')`), ['a']);
    deepEqual(await returning(`UPDATE ${table} SET line = 'b'`), ['b']);
    deepEqual(await returning(`UPDATE ${table} SET line = 'b' WHERE line = 'nobody'`), []);
    deepEqual(await returning(`DELETE FROM ${table}`), ['b']);
  });

  withTable('tells the SQLSTATE of a statement that failed', async (database, table) => {
    const stateOf = (query: SqlQuery) => query(`INSERT INTO ${table} VALUES (NULL)`).then(() => undefined, sqlCodeOf);
    equal(await stateOf(database.query), '23502');
    let within: unknown;
    const noted = database.transaction(async (_, query) => {
      within = await stateOf(query);
    });
    // Some libraries let no transaction resolve in which something failed.
    await noted.catch(() => {});
    equal(within, '23502');
  });

  withTable(
    'commits what tx and query have written in one transaction, and answers what the work did',
    async (database, table) => {
      const answer = await database.transaction(async (tx, query) => {
        await query(`INSERT INTO ${table} VALUES ($1::text)`, ['by query']);
        await execute(tx, `INSERT INTO ${table} VALUES ('by tx')`);
        deepEqual(await linesOf(query, table), ['by query', 'by tx']);
        // Another connection sees none of it.
        deepEqual(await linesOf(database.query, table), []);
        return 'answer';
      });
      equal(answer, 'answer');
      deepEqual(await linesOf(database.query, table), ['by query', 'by tx']);
    },
  );

  withTable('rolls back when the work rejects, with its error', async (database, table) => {
    const error = new Error('the shop is on fire');
    const transaction = database.transaction(async (tx, query) => {
      await query(`INSERT INTO ${table} VALUES ('by query')`);
      await execute(tx, `INSERT INTO ${table} VALUES ('by tx')`);
      throw error;
    });
    await rejects(transaction, error);
    deepEqual(await linesOf(database.query, table), []);
  });

  withTable('begins at READ COMMITTED, and can write', async database => {
    const settings = await database.transaction(async (_, query) =>
      query(
        `SELECT current_setting('transaction_isolation') AS isolation, current_setting('transaction_read_only') AS readonly`,
      ),
    );
    deepEqual(
      settings.map(row => ({ ...row })),
      [{ isolation: 'read committed', readonly: 'off' }],
    );
  });

  withTable('rejects when the COMMIT fails', async (database, table) => {
    await database.query(
      `ALTER TABLE ${table} ADD COLUMN parent text REFERENCES ${table} DEFERRABLE INITIALLY DEFERRED`,
    );
    const orphan = `INSERT INTO ${table} VALUES ('child', 'nobody')`;
    await rejects(database.transaction(async (_, query) => void (await query(orphan))));
    deepEqual(await linesOf(database.query, table), []);
  });

  withTable('has a connection for each transaction that runs', async database => {
    const pidOf = async (query: SqlQuery) => (await query('SELECT pg_backend_pid()::text AS pid'))[0]?.pid;
    await database.transaction(async (_, outer) => {
      await database.transaction(async (_, inner) => notEqual(await pidOf(inner), await pidOf(outer)));
      notEqual(await pidOf(database.query), await pidOf(outer));
    });
  });

  withTable('undoes back to a savepoint', async (database, table) => {
    await database.transaction(async (_, query) => {
      await query(`INSERT INTO ${table} VALUES ('kept')`);
      await query('SAVEPOINT part');
      await query(`INSERT INTO ${table} VALUES ('undone')`);
      await query('ROLLBACK TO SAVEPOINT part');
    });
    deepEqual(await linesOf(database.query, table), ['kept']);
  });

  withTable('runs statements in a transaction that the merchant began, if it can', async (database, table) => {
    const { queryIn } = database;
    if (!queryIn) return;
    const transaction = database.transaction(async (tx, query) => {
      await queryIn(tx)(`INSERT INTO ${table} VALUES ($1::text)`, ['planned']);
      deepEqual(await linesOf(query, table), ['planned']);
      throw new Error('no order');
    });
    await rejects(transaction, /no order/);
    deepEqual(await linesOf(database.query, table), []);
  });
}
