// The tests that every SqlDatabase must pass, no matter the library beneath it.
import { deepEqual, equal, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { SqlDatabase, SqlQuery, SqlRow } from '../sql/database.ts';
import { sqlCodeOf } from '../sql/errors.ts';
import type { TestFunction } from './test-function.ts';

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
  type Run = (database: SqlDatabase<Tx>, table: string, dialect: (typeof DIALECTS)['mysql']) => Promise<void>;
  const withTable = (name: string, run: Run) =>
    test(`a database ${name}`, async () => {
      const database = await make();
      const dialect = DIALECTS[database.dialect];
      const table = `payment_gateway_suite_${randomUUID().slice(0, 8)}`;
      await database.query(`CREATE TABLE ${table} (line varchar(100) NOT NULL PRIMARY KEY)`);
      try {
        await run(database, table, dialect);
      } finally {
        await database.query(`DROP TABLE ${table}`);
      }
    });

  withTable('takes texts and nulls for placeholders, and returns them in rows', async (database, table, dialect) => {
    for (const odd of ODD)
      deepEqual(plain(await database.query(dialect.echo, dialect.echoed('one', odd))), [
        { second: odd, first: 'one', again: odd },
      ]);
    deepEqual([...(await database.query(`SELECT line FROM ${table} WHERE line = ${dialect.placeholder}`, ['a']))], []);
  });

  withTable('returns the rows changed by INSERT, UPDATE and DELETE', async (database, table, dialect) => {
    const { placeholder, returning, changed } = dialect;
    const written = async (sql: string, values?: string[]) => plain(await database.query(sql, values));
    deepEqual(await written(`INSERT INTO ${table} VALUES ('a') ${returning}`), changed('a'));
    deepEqual(await written(`UPDATE ${table} SET line = 'b' ${returning}`), changed('b'));
    deepEqual(await written(`UPDATE ${table} SET line = 'b' WHERE line = 'nobody' ${returning}`), changed());
    deepEqual(await written(`DELETE FROM ${table} ${returning}`), changed('b'));
    const insert = `INSERT INTO ${table} VALUES (${placeholder})`;
    deepEqual(await written(`${insert} ${returning}`, ['a']), changed('a'));
    // Without RETURNING, Postgres answers an empty array.
    deepEqual(await written(insert, ['b']), returning ? [] : changed('b'));
  });

  withTable('reports the code of a failed statement', async (database, table, { notNull }) => {
    const codeOf = (query: SqlQuery) => query(`INSERT INTO ${table} VALUES (NULL)`).then(() => undefined, sqlCodeOf);
    equal(await codeOf(database.query), notNull);
    let within: unknown;
    const noted = transact(database, async (_, query) => {
      within = await codeOf(query);
    });
    // Some libraries reject every transaction with a failed statement.
    await noted.catch(() => {});
    equal(within, notNull);
  });

  withTable(
    'commits the writes of tx and query together, and returns the result of the work',
    async (database, table, { placeholder }) => {
      const answer = await transact(database, async (tx, query) => {
        await query(`INSERT INTO ${table} VALUES (${placeholder})`, ['by query']);
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
    const transaction = transact(database, async (tx, query) => {
      await query(`INSERT INTO ${table} VALUES ('by query')`);
      await execute(tx, `INSERT INTO ${table} VALUES ('by tx')`);
      throw error;
    });
    await rejects(transaction, error);
    deepEqual(await linesOf(database.query, table), []);
  });

  withTable('begins at READ COMMITTED, and can write', async (database, table) => {
    await transact(database, async (_, query) => {
      deepEqual(await linesOf(query, table), []);
      await transact(database, async (_, theirs) => {
        await theirs(`INSERT INTO ${table} VALUES ('theirs')`);
        deepEqual(await linesOf(query, table), [], 'sees no uncommitted write');
      });
      deepEqual(await linesOf(query, table), ['theirs'], 'sees a write that was committed meanwhile');
      await query(`INSERT INTO ${table} VALUES ('own')`);
    });
    deepEqual(await linesOf(database.query, table), ['own', 'theirs']);
  });
}

const DIALECTS = {
  postgres: {
    placeholder: '$1::text',
    echo: 'SELECT $2::text AS second, $1::text AS first, $2::text AS again',
    echoed: (first: string, second: string | null) => [first, second],
    returning: 'RETURNING line',
    changed: (...lines: string[]): object[] => lines.map(line => ({ line })),
    notNull: '23502',
  },
  mysql: {
    placeholder: '?',
    /** Answers placeholders as columns, and `echoed` their values in the dialect's order. */
    echo: 'SELECT CAST(? AS CHAR) AS second, CAST(? AS CHAR) AS first, CAST(? AS CHAR) AS again',
    echoed: (first: string, second: string | null) => [second, first, second],
    /** The end of a write that makes it return its lines, if the dialect can, and the answer. */
    returning: '',
    changed: (...lines: string[]): object[] => [{ affected: String(lines.length) }],
    /** The code of the error for a null in a NOT NULL column. */
    notNull: '1048',
  },
};

/** Texts that a driver could mistake for other values. */
const ODD = ['', "it's; drop table --", '{"a":[1]}', '{a,b}', 'true', '1e3', 'ZAŻÓŁĆ 😀', '$1 ? :name \\', null];

type Work<Tx, T> = (tx: Tx, query: SqlQuery) => Promise<T>;

const transact = <Tx, T>(database: SqlDatabase<Tx>, work: Work<Tx, T>) =>
  database.transaction(tx => work(tx, database.queryIn(tx)));

/** Copies the rows, because drivers have their own classes for them. */
const plain = (rows: readonly SqlRow[]) => rows.map(row => ({ ...row }));

const linesOf = async (query: SqlQuery, table: string) =>
  (await query(`SELECT line FROM ${table} ORDER BY line`)).map(({ line }) => line);
