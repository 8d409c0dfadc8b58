// The table of a store: its name, and which of its migrations have run.
import type { ProblemOf } from '../schemas/store-options.ts';

/** For an option that is the name of a table. */
export const tableNameProblem: ProblemOf = value =>
  typeof value === 'string' && /^[a-z_][a-z\d_]*(\.[a-z_][a-z\d_]*)?$/i.test(value)
    ? undefined
    : 'must be a plain name such as my_table, or schema.my_table';

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
