// Makes the compiler check a zod schema against its interface.
import type * as z from 'zod';

/** One schema for each field of an interface. The compiler refuses missing, extra and mistyped fields. */
export type FieldsOf<T> = { [Name in keyof T]-?: z.ZodType<T[Name]> };

/** Gives each of these fields the same schema. */
export const each = <Name extends string, S>(names: readonly Name[], schema: S): Record<Name, S> =>
  Object.fromEntries(names.map(name => [name, schema])) as Record<Name, S>;
