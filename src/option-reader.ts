// Reads an object of options by its schema, with messages that say what to do.
import * as z from 'zod';
import { LONGEST_TIMER } from './deadline.ts';
import { ConfigurationError, InvalidRequestError, type Issue, issuesOf } from './errors.ts';
import { closedObject } from './schemas/fields-of.ts';
import { isJsonMap } from './schemas/json.ts';

/** Like FieldsOf, for options as a caller passes them. */
type SchemasOf<Options, S> = { [Name in keyof Options]-?: z.ZodType<unknown, Options[Name]> } & {
  [Name in Exclude<keyof S, keyof Options>]: never;
};

export const optionsReader =
  <Options>() =>
  <S extends z.ZodRawShape>(owner: string, fields: S & SchemasOf<Options, S>) =>
    readerOf<S>(fields, issues => {
      const list = issues.map(({ path, message }) => (path ? `${path} ${message}` : message)).join('; ');
      return new ConfigurationError(`${owner}: ${list}.`);
    });

/** For an argument of a call, whose mistakes are an InvalidRequestError. */
export const argumentReader =
  <Options>() =>
  <S extends z.ZodRawShape>(fields: S & SchemasOf<Options, S>, outcome?: 'not_sent') => {
    const read = readerOf<S>(fields, issues => {
      const list = issues.map(({ path, message }) => ({ path: path ? `options.${path}` : 'options', message }));
      return new InvalidRequestError(list, outcome);
    });
    return (options: Options | undefined) => read(options ?? {});
  };

function readerOf<S extends z.ZodRawShape>(fields: S, refuse: (issues: readonly Issue[]) => Error) {
  const names = Object.keys(fields);
  const schema = closedObject('option', fields, `takes one object of options: { ${names.slice(0, 3).join(', ')} }`);
  return (options: unknown) => {
    const { success, data, error } = schema.safeParse(options);
    if (!success) throw refuse(issuesOf(error));
    return data;
  };
}

const MILLISECONDS = 'must be milliseconds, more than 0 and at most 24 days';

export const milliseconds = z.number(MILLISECONDS).positive(MILLISECONDS).max(LONGEST_TIMER, MILLISECONDS);

export const count = z.int('must be a whole number').positive('must be 1 or more');

export const functionOf = <F>() => z.custom<F>(value => typeof value === 'function', 'must be a function');

export const objectWith = <T extends object>(methods: readonly (keyof T & string)[], error: string) =>
  z.custom<T>(value => methods.every(name => typeof (value as T | null)?.[name] === 'function'), error);

export const flag = z.boolean('must be true or false');

export const text = z.string('must be a string');

export const oneOf = <const V extends readonly [string, ...string[]]>(texts: V) =>
  z.enum(texts, { error: `must be ${texts.map(text => `'${text}'`).join(' or ')}` });

/** A text from the options or else the environment. Messages never show it. */
export const requiredText = (variable: string, expected = 'a string') => {
  const advice = `pass it, or set ${variable}`;
  return z
    .string({ error: ({ input }) => (input === undefined ? `is missing: ${advice}` : `must be ${expected}`) })
    .min(1, { error: `is empty: ${advice}`, abort: true })
    .prefault(() => process.env[variable] as string);
};

const SIGNAL = "must be an AbortSignal, such as a controller's `signal`";

export const callFields = {
  // A test runner may have its own AbortSignal.
  signal: objectWith<AbortSignal>(['addEventListener'], SIGNAL).optional(),
  timeout: milliseconds.optional(),
};

export const extraField = z.custom<object>(isJsonMap, 'must be an object of fields').optional();
