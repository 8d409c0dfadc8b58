// The table of a store: its name, and which of its migrations have run.
import type { ProblemOf } from '../options/store-options.ts';

/** The end of the error of a missing table. */
export const CALL_MIGRATE = ': call migrate(), or correct tablePrefix';

export const tableNameProblem: ProblemOf = value => {
  if (typeof value !== 'string' || !/^[a-z_][a-z\d_]*(\.[a-z_][a-z\d_]*)?$/i.test(value))
    return 'must be a plain name such as my_table, or schema.my_table';
  return value.split('.').some(part => part.length > LONGEST_NAME)
    ? 'is too long: Postgres cuts names after 63 characters, so two tables could get the same name'
    : undefined;
};

/** Postgres silently cuts longer names. */
const LONGEST_NAME = 63;

/** Writes JSON in ASCII: a connection or database with another character set would lose or refuse letters. */
export function asciiJson(value: unknown): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(/[^\0-\x7f]/g, escaped);
}

/** The comment of a table, which keeps the number of its migrations that have run. */
export const versionComment = (version: number): string => `payment-gateway-sdk, version ${version}`;
const VERSION = /^payment-gateway-sdk, version (\d+)$/;

/**
 * Returns the pending migrations: none for a table of a later version of the SDK.
 *
 * @param comment the table's comment, if any
 */
export const pendingOf = (steps: readonly string[], comment: unknown): readonly string[] =>
  steps.slice(Number(VERSION.exec(String(comment))?.[1] ?? 0));

export const scriptOf = (statements: readonly string[]): string =>
  statements.map(statement => `${statement};\n`).join('');
