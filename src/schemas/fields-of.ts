// Makes the compiler check a zod schema against its interface.
import type * as z from 'zod';

/** One schema for each field of an interface. The compiler refuses missing, extra and mistyped fields. */
export type FieldsOf<T> = { [Name in keyof T]-?: z.ZodType<T[Name]> };
