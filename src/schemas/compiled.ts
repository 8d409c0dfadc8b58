// Parsing that becomes quicker where much is parsed.
import * as z from 'zod';

/** Parses. Compiling takes milliseconds and saves microseconds, so it is for those who parse much. */
const WORTH_COMPILING = 1_000;

/** The schema's `safeParse`, compiled once it has been used so often that it pays. */
export function compiledWhenBusy<T>(
  schema: z.ZodType<T>,
  compile: (schema: z.ZodType<T>) => z.ZodType<T> = z.compile,
): (value: unknown) => z.ZodSafeParseResult<T> {
  let parses = 0;
  let current = schema;
  return value => {
    parses += 1;
    if (parses === WORTH_COMPILING) current = compile(schema);
    return current.safeParse(value);
  };
}
