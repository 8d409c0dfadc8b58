// The tests that every SqlDatabase must pass, no matter the library beneath it.
import { deepEqual, equal, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { SqlDatabase, SqlQuery } from '../sql/database.ts';
import { sqlCodeOf } from '../sql/errors.ts';
import type { Cases, TestFunction } from './test-function.ts';

/** Options of `sqlDatabaseSuite`. */
export interface SqlDatabaseSuiteOptions<Tx> {
  /** Registers a test. */
  test: TestFunction;
  /** Makes the database. Called once per test. The suite creates and drops its own tables in it. */
  make: () => SqlDatabase<Tx> | Promise<SqlDatabase<Tx>>;
  /** Runs a statement with the library's own transaction, as an effect would. */
  execute: (tx: Tx, sql: string) => PromiseLike<unknown>;
}

/**
 * Registers the tests that every {@link SqlDatabase} must pass, in its own dialect. A database gives exactly-once
 * effects if it also passes `storeSuite` over `postgresStore(yours, …)` or `mysqlStore(yours, …)`.
 *
 * @example
 * sqlDatabaseSuite({ test, make: () => fromMine(db), execute: (tx, sql) => tx.query(sql) });
 */
export function sqlDatabaseSuite<Tx>({ test, make, execute }: SqlDatabaseSuiteOptions<Tx>): void {
  for (const [name, run] of Object.entries(CASES))
    test(`a database ${name}`, async () => {
      const database = await make();
      const isMysql = database.dialect === 'mysql';
      // Drivers have their own classes for rows.
      const query: SqlQuery = async (sql, values) => (await database.query(sql, values)).map(row => ({ ...row }));
      const table = `payment_gateway_suite_${randomUUID().slice(0, 8)}`;
      const transact: Context['transact'] = work =>
        database.transaction(tx => work(database.queryIn(tx), sql => execute(tx, sql)));
      await query(`CREATE TABLE ${table} (line varchar(100) NOT NULL PRIMARY KEY)`);
      try {
        await run({ isMysql, table, query, transact });
      } finally {
        await query(`DROP TABLE ${table}`);
      }
    });
}

interface Context {
  isMysql: boolean;
  /** An empty table with one column: `line`. */
  table: string;
  query: SqlQuery;
  /** Runs the work in a transaction. It writes with the SDK's `query`, and with the library's own `execute`. */
  transact<T>(work: (query: SqlQuery, execute: (sql: string) => PromiseLike<unknown>) => Promise<T>): Promise<T>;
}

/** Texts that a driver could mistake for other values. */
const ODD = ['', "it's; drop table --", '{"a":[1]}', '{a,b}', 'true', '1e3', 'ZAŻÓŁĆ 😀', '$1 ? :name \\', null];

const CASES: Cases<Context> = {
  'takes texts and nulls for placeholders, and returns them in rows': async ({ query, isMysql }) => {
    const [first, second] = isMysql ? ['CAST(? AS CHAR)', 'CAST(? AS CHAR)'] : ['$1::text', '$2::text'];
    const echo = `SELECT ${second} AS second, ${first} AS first, ${second} AS again`;
    for (const odd of ODD) {
      const rows = await query(echo, isMysql ? [odd, 'one', odd] : ['one', odd]);
      deepEqual(rows, [{ second: odd, first: 'one', again: odd }]);
    }
  },

  'runs INSERT, UPDATE and DELETE, and in Postgres returns their rows': async ({ query, table, isMysql }) => {
    // In MySQL, the stores ignore the answer of a write.
    const expectRows = async (lines: string[], sql: string, values?: string[]) => {
      const answer = await query(sql, values);
      if (!isMysql)
        deepEqual(
          answer,
          lines.map(line => ({ line })),
        );
    };
    const returning = isMysql ? '' : ' RETURNING line';
    const insert = `INSERT INTO ${table} VALUES (${isMysql ? '?' : '$1::text'})`;
    await expectRows(['a'], `INSERT INTO ${table} VALUES ('a')${returning}`);
    await expectRows(['b'], `UPDATE ${table} SET line = 'b'${returning}`);
    await expectRows([], `UPDATE ${table} SET line = 'b' WHERE line = 'nobody'${returning}`);
    await expectRows(['b'], `DELETE FROM ${table}${returning}`);
    await expectRows(['a'], insert + returning, ['a']);
    await expectRows([], insert, ['b']);
    deepEqual(await query(`SELECT line FROM ${table} ORDER BY line`), [{ line: 'a' }, { line: 'b' }]);
  },

  'reports the code of a failed statement': async ({ query, transact, table, isMysql }) => {
    const codeOf = (by: SqlQuery) => by(`INSERT INTO ${table} VALUES (NULL)`).then(() => undefined, sqlCodeOf);
    const notNull = isMysql ? '1048' : '23502';
    equal(await codeOf(query), notNull);
    let within: unknown;
    // Some libraries reject every transaction with a failed statement.
    await transact(async own => {
      within = await codeOf(own);
    }).catch(() => {});
    equal(within, notNull);
  },

  'commits or undoes the writes of tx and query together': async ({ query, transact, table }) => {
    const write = (error?: Error) =>
      transact(async (own, execute) => {
        await own(`INSERT INTO ${table} VALUES ('by query')`);
        await execute(`INSERT INTO ${table} VALUES ('by tx')`);
        deepEqual(await linesOf(own, table), ['by query', 'by tx']);
        deepEqual(await linesOf(query, table), [], 'another connection sees no uncommitted write');
        if (error) throw error;
        return 'answer';
      });
    const error = new Error('the shop is on fire');
    await rejects(write(error), error);
    deepEqual(await linesOf(query, table), []);
    equal(await write(), 'answer');
    deepEqual(await linesOf(query, table), ['by query', 'by tx']);
  },

  'begins at READ COMMITTED, and can write': async ({ query, transact, table }) => {
    await transact(async own => {
      deepEqual(await linesOf(own, table), []);
      await transact(async theirs => {
        await theirs(`INSERT INTO ${table} VALUES ('theirs')`);
        deepEqual(await linesOf(own, table), [], 'sees no uncommitted write');
      });
      deepEqual(await linesOf(own, table), ['theirs'], 'sees a write that was committed meanwhile');
      await own(`INSERT INTO ${table} VALUES ('own')`);
    });
    deepEqual(await linesOf(query, table), ['own', 'theirs']);
  },
};

const linesOf = async (query: SqlQuery, table: string) =>
  (await query(`SELECT line FROM ${table} ORDER BY line`)).map(({ line }) => line);
