// Makes zod schemas that the compiler checks against interfaces, with messages that name the fix.
import * as z from 'zod';
import { unknownNames } from './hints.ts';

/** One schema for each field of an interface. The compiler refuses missing, extra and mistyped fields. */
export type FieldsOf<T> = { [Name in keyof T]-?: z.ZodType<T[Name]> };

/** Later checks still run. */
export const refusing = <T>(problemOf: (value: T) => string | undefined) =>
  z.refine<T>(value => !problemOf(value), { error: ({ input }) => problemOf(input as T) });

export const each = <Name extends string, S>(names: readonly Name[], schema: S) =>
  Object.fromEntries(names.map(name => [name, schema])) as Record<Name, S>;

/** @param advice follows the names of unknown fields */
export const closedObject = <S extends z.ZodRawShape>(kind: 'field' | 'option', shape: S, error: string, advice = '') =>
  z.strictObject(shape, {
    error: issue =>
      issue.code === 'unrecognized_keys' ? unknownNames(kind, issue.keys, Object.keys(shape)) + advice : error,
  });
