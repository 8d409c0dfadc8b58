// How schemas are built and published, and how the compiler holds a schema to its interface.
import * as z from 'zod';

/** Keeps unknown fields at run time. The types do not show them, so that a mistyped field does not compile. */
export const passthroughObject = <S extends z.ZodRawShape>(shape: S): z.ZodObject<S, z.core.$strip> =>
  z.looseObject(shape) as unknown as z.ZodObject<S, z.core.$strip>;

/** A schema as merchants see it: what it gives, and what it takes. */
export type SchemaOf<Output, Input = unknown> = z.ZodType<Output, Input>;

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

/** As {@link publish}, for what a merchant writes: the type that goes in is the one that comes out. */
export const publishRequest =
  <T>() =>
  <S extends z.ZodType>(schema: S & IsSame<z.output<S>, T>): SchemaOf<T, T> =>
    schema as unknown as SchemaOf<T, T>;
