// SQL with its values where they stand.
import type { SqlQuery, SqlValue } from './database.ts';

/** A part of a statement. A NUL in its text is the place of the next value. */
export interface Sql {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

export const sql = (strings: TemplateStringsArray, ...parts: readonly (string | Sql)[]): Sql => ({
  text: String.raw({ raw: strings }, ...parts.map(part => (typeof part === 'string' ? part : part.text))),
  values: parts.flatMap(part => (typeof part === 'string' ? [] : part.values)),
});

/** @param as casts the place of the value */
export const bind = (value: SqlValue, as = (place: string) => place): Sql => ({ text: as('\0'), values: [value] });

export const join = (parts: readonly Sql[], separator: string): Sql => ({
  text: parts.map(({ text }) => text).join(separator),
  values: parts.flatMap(({ values }) => values),
});

/** @param placeOf returns a placeholder by its number from 1 */
export function send(query: SqlQuery, { text, values }: Sql, placeOf: (number: number) => string) {
  let count = 0;
  return query(
    text.replaceAll('\0', () => placeOf(++count)),
    values,
  );
}
