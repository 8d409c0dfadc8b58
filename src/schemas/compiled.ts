// Compiles a schema once it is used often.
import * as z from 'zod';

/** Number of parses. Compiling takes milliseconds and saves microseconds a parse. */
const WORTH_COMPILING = 1_000;

/** Returns the schema's `safeParse`, compiled once enough use makes it pay. */
export function compiledWhenBusy<T>(schema: z.ZodType<T>): (value: unknown) => z.ZodSafeParseResult<T> {
  let parses = 0;
  let current = schema;
  return value => {
    parses += 1;
    if (parses === WORTH_COMPILING) current = z.compile(schema);
    return current.safeParse(value);
  };
}
