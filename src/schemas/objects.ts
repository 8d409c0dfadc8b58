// How schemas are built and published, and how the compiler holds a schema to its interface.
import * as z from 'zod';

/** Keeps unknown fields at run time. The types do not show them, so that a mistyped field does not compile. */
export const passthroughObject = <S extends z.ZodRawShape>(shape: S): z.ZodObject<S, z.core.$strip> =>
  z.looseObject(shape) as unknown as z.ZodObject<S, z.core.$strip>;

/** The schema of what the gateway sends: it takes anything, and gives a `T`. */
export type SchemaOf<T> = z.ZodType<T>;
/** The schema of what a merchant writes: the type that goes in is the one that comes out. */
export type RequestSchemaOf<T> = z.ZodType<T, T>;

/** Whether both types have the same fields, and each can stand for the other. */
export type IsSame<A, B> = [A, B, Keys<A>, Keys<B>] extends [B, A, Keys<B>, Keys<A>] ? unknown : 'not that interface';
type Keys<T> = keyof {
  [K in keyof NonNullable<T> as string extends K ? never : number extends K ? never : K]: never;
};

/** Publishes a schema under an interface. The compiler refuses the one if it has a field that the other has not. */
export const publish =
  <T>() =>
  <S extends z.ZodType>(schema: S & IsSame<z.output<S>, T>): SchemaOf<T> =>
    schema as unknown as SchemaOf<T>;

/** As {@link publish}, for what a merchant writes. */
export const publishRequest =
  <T>() =>
  <S extends z.ZodType>(schema: S & IsSame<z.output<S>, T>): RequestSchemaOf<T> =>
    schema as unknown as RequestSchemaOf<T>;
