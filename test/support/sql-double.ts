// A database that answers what it is told to, for the statements of the stores.

import type { SqlQuery, SqlRow } from '../../src/sql/database.ts';

type Answer = readonly SqlRow[] | Error;
type Asked = [sql: string, values?: readonly unknown[]];

/** Answers each statement that has such a text in it, one answer after the other, and the last one again. */
export function double(answers: [has: string, ...Answer[]][]) {
  const asked: Asked[] = [];
  const query: SqlQuery = async (text, values) => {
    const sql = text.replace(/\s+/g, ' ');
    asked.push(values ? [sql, values] : [sql]);
    const found = answers.find(([has]) => sql.includes(has));
    const answer = (found && found.length > 2 ? (found.splice(1, 1)[0] as Answer) : (found?.[1] as Answer)) ?? [];
    if (answer instanceof Error) throw answer;
    return [...answer];
  };
  return { query, asked, sent: () => asked.map(([sql]) => sql) };
}

/** As a driver of Postgres has it. */
export const sqlError = (code: string) => Object.assign(new Error(`ERROR ${code}`), { code });
