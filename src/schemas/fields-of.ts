// How the compiler checks a zod schema against its interface.
import type * as z from 'zod';

/** One schema for each field of an interface. The compiler refuses a missing field, another type, and a field too many. */
export type FieldsOf<T> = { [Name in keyof T]-?: z.ZodType<T[Name]> };
