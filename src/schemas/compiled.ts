// Parsing that becomes quicker where much is parsed.
import * as z from 'zod';

/** Compiling takes as long as it saves in so many parses, within a factor of ten. */
const WORTH_COMPILING = 1_000;

/** The schema's `safeParse`, compiled once it has been used so often that it pays. */
export function compiledWhenBusy<T>(schema: z.ZodType<T>): (value: unknown) => z.ZodSafeParseResult<T> {
  let parses = 0;
  let current = schema;
  return value => {
    parses += 1;
    if (parses === WORTH_COMPILING) current = z.compile(schema);
    return current.safeParse(value);
  };
}
