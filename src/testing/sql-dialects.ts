// What the suite of a SqlDatabase says in the SQL of each dialect.
import type { SqlDatabase } from '../sql/database.ts';

/** The words in which dialects differ. */
export interface SqlDialect {
  /** A column of texts that is the key of its table. */
  readonly key: string;
  /** A placeholder for a text, where a statement has only one. */
  readonly placeholder: string;
  /** Answers placeholders for `first` and `second` as columns. */
  readonly echo: string;
  /** The values for them, in the order that the dialect wants. */
  echoed(first: string, second: string | null): (string | null)[];
  /** For the end of a write: what makes it answer its lines, where it can. */
  readonly returning: string;
  /** What a write answers that has changed these lines. */
  changed(...lines: string[]): object[];
  /** The code of the error for a null in a column that takes none. */
  readonly notNull: string;
  /** The number of the connection, as a text. */
  readonly connection: string;
  /** Adds a column to a table that only COMMIT checks: it must name a line. Nothing in a dialect without such checks. */
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
