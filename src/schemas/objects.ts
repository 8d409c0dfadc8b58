// Object schemas whose fields keep their doc comments in the published types: zod's own functions map the shape, and
// TypeScript drops the comments of a mapped type when it writes declarations.
import * as z from 'zod';

type Params = Parameters<typeof z.looseObject>[1];

/** Refuses unknown fields. */
export const strict = <S extends z.ZodRawShape>(shape: S, params?: Params): z.ZodObject<S, z.core.$strict> =>
  z.strictObject(shape, params) as z.ZodObject<S, z.core.$strict>;

/** Takes unknown fields, in types too. */
export const loose = <S extends z.ZodRawShape>(shape: S, params?: Params): z.ZodObject<S, z.core.$loose> =>
  z.looseObject(shape, params) as z.ZodObject<S, z.core.$loose>;

/** Keeps unknown fields at run time, without an index signature that would let a mistyped field compile. */
export const open = <S extends z.ZodRawShape>(shape: S): z.ZodObject<S, z.core.$strip> =>
  z.looseObject(shape) as unknown as z.ZodObject<S, z.core.$strip>;

/** Drops unknown fields. */
export const only = <S extends z.ZodRawShape>(shape: S): z.ZodObject<S, z.core.$strip> =>
  z.object(shape) as z.ZodObject<S, z.core.$strip>;
