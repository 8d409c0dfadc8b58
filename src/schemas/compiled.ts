// Returns the `safeParse` of a schema, and compiles it once enough use makes it pay.
import * as z from 'zod';

/** Number of parses. Compiling takes milliseconds and saves microseconds a parse. */
const WORTH_COMPILING = 1_000;

export function compiledWhenBusy<T>(schema: z.ZodType<T>): (value: unknown) => z.ZodSafeParseResult<T> {
  let parses = 0;
  let current = schema;
  return value => {
    parses += 1;
    if (parses === WORTH_COMPILING) current = z.compile(schema);
    return current.safeParse(value);
  };
}
