// The SQL of each dialect, for the suite of a SqlDatabase.
import type { SqlDatabase } from '../sql/database.ts';

/** The parts of the SQL in which dialects differ. */
export interface SqlDialect {
  /** A column of texts that is the key of its table. */
  readonly key: string;
  /** A placeholder for a text, in a statement that has only one. */
  readonly placeholder: string;
  /** Answers placeholders for `first` and `second` as columns. */
  readonly echo: string;
  /** Returns the values for them, in the dialect's order. */
  echoed(first: string, second: string | null): (string | null)[];
  /** The end of a write that makes it return its lines, if the dialect can. */
  readonly returning: string;
  /** Returns the answer of a write that changed these lines. */
  changed(...lines: string[]): object[];
  /** The code of the error for a null in a NOT NULL column. */
  readonly notNull: string;
  /** The number of the connection, as a text. */
  readonly connection: string;
  /** Adds a column that must name a line, which only COMMIT checks. Absent in a dialect without such checks. */
  parentOf?(table: string): string;
}

export const SQL_DIALECTS: Record<SqlDatabase<unknown>['dialect'], SqlDialect> = {
  postgres: {
    key: 'line text PRIMARY KEY',
    placeholder: '$1::text',
    echo: 'SELECT $2::text AS second, $1::text AS first, $2::text AS again',
    echoed: (first, second) => [first, second],
    returning: 'RETURNING line',
    changed: (...lines) => lines.map(line => ({ line })),
    notNull: '23502',
    connection: 'pg_backend_pid()::text',
    parentOf: table => `ALTER TABLE ${table} ADD COLUMN parent text REFERENCES ${table} DEFERRABLE INITIALLY DEFERRED`,
  },
  mysql: {
    key: 'line varchar(100) NOT NULL PRIMARY KEY',
    placeholder: '?',
    echo: 'SELECT CAST(? AS CHAR) AS second, CAST(? AS CHAR) AS first, CAST(? AS CHAR) AS again',
    echoed: (first, second) => [second, first, second],
    returning: '',
    changed: (...lines) => [{ affected: String(lines.length) }],
    notNull: '1048',
    connection: 'CAST(CONNECTION_ID() AS CHAR)',
  },
};
