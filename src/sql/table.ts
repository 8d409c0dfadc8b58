// The table of a store: its name, and which of its migrations have run.
import type { ProblemOf } from '../options/store-options.ts';

/** What the error of a missing table ends with. */
export const WAS_IT_MIGRATED = ': was migrate() called?';

/** For an option that is the name of a table. */
export const tableNameProblem: ProblemOf = value => {
  if (typeof value !== 'string' || !/^[a-z_][a-z\d_]*(\.[a-z_][a-z\d_]*)?$/i.test(value))
    return 'must be a plain name such as my_table, or schema.my_table';
  return value.split('.').some(part => part.length > LONGEST_NAME)
    ? 'is too long: Postgres would cut a name after 63 characters, and take two tables for one'
    : undefined;
};

/** Postgres cuts longer names, in silence. */
export const LONGEST_NAME = 63;

/** JSON of ASCII alone: a connection, or a database, of another character set would lose letters, or refuse them. */
export function asciiJson(value: unknown): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(/[^\0-\x7f]/g, escaped);
}

/** How the comment of a table tells how many of its migrations have run. */
export const versionComment = (version: number): string => `payment-gateway-sdk, version ${version}`;
const VERSION = /^payment-gateway-sdk, version (\d+)$/;

/**
 * The migrations that have not run yet: a table of a later version of the SDK is left as it is.
 *
 * @param comment that of the table, if there is one
 */
export const pendingOf = (steps: readonly string[], comment: unknown): readonly string[] =>
  steps.slice(Number(VERSION.exec(String(comment))?.[1] ?? 0));

/** Statements as a script. */
export const scriptOf = (statements: readonly string[]): string =>
  statements.map(statement => `${withoutIndent(statement)};\n`).join('');

/** SQL stands further to the right in our code than in a script. */
function withoutIndent(sql: string): string {
  const indent = /\n *(?=\).*$)/.exec(sql)?.[0];
  return indent ? sql.replaceAll(indent, '\n') : sql;
}
