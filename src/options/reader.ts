// Reads an object of options by its schema: names, defaults, the environment, and messages that say what to do.
import * as z from 'zod';
import { LONGEST_TIMER } from '../deadline.ts';
import { ConfigurationError, InvalidRequestError, type Issue, issuesOf } from '../errors.ts';
import { unknownNames } from '../schemas/hints.ts';

/** One schema for each option. The compiler refuses a missing option, another type, and an option too many. */
type SchemasOf<Options, S> = { [Name in keyof Options]-?: z.ZodType<unknown, Options[Name]> } & {
  [Name in Exclude<keyof S, keyof Options>]: never;
};

/**
 * A function that checks options and fills in their defaults.
 *
 * @param owner what messages call the function or class that takes the options
 */
export const optionsReader =
  <Options>() =>
  <S extends z.ZodRawShape>(owner: string, fields: S & SchemasOf<Options, S>) =>
    readerOf<S>(fields, issues => {
      const list = issues.map(({ path, message }) => (path ? `${path} ${message}` : message)).join('; ');
      return new ConfigurationError(`${owner}: ${list}.`);
    });

/**
 * The same for the second argument of a call, whose mistakes are those of the request.
 *
 * @param outcome of a create
 */
export const argumentReader =
  <Options>() =>
  <S extends z.ZodRawShape>(fields: S & SchemasOf<Options, S>, outcome?: 'not_sent') => {
    const refuse = (issues: readonly Issue[]) =>
      new InvalidRequestError(
        issues.map(({ path, message }) => ({ path: path ? `options.${path}` : 'options', message })),
        outcome,
      );
    const read = readerOf<S>(fields, refuse);
    return (options: Options | undefined) => {
      if (isSignal(options)) throw refuse([{ path: '', message: 'must be an object: pass { signal }' }]);
      return read(options ?? {});
    };
  };

function readerOf<S extends z.ZodRawShape>(fields: S, refuse: (issues: readonly Issue[]) => Error) {
  const names = Object.keys(fields);
  const schema = z.strictObject(fields, {
    error: issue =>
      issue.code === 'unrecognized_keys'
        ? unknownNames('option', issue.keys, names)
        : `takes one object of options: { ${names.slice(0, 3).join(', ')} }`,
  });
  return (options: unknown): z.output<z.ZodObject<S>> => {
    const { success, data, error } = schema.safeParse(options);
    if (!success) throw refuse(issuesOf(error));
    return data as z.output<z.ZodObject<S>>;
  };
}

const MILLISECONDS = { error: 'must be milliseconds, more than 0 and at most 24 days' };

/** A time-out that a timer can keep. */
export const milliseconds = z.number(MILLISECONDS).positive(MILLISECONDS).max(LONGEST_TIMER, MILLISECONDS);

/** How many of something. */
export const count = z.int({ error: 'must be a whole number' }).positive({ error: 'must be 1 or more' });

/** A function. */
export const functionOf = <F>() => z.custom<F>(value => typeof value === 'function', { error: 'must be a function' });

/** An object that has methods of these names. */
export const objectWith = <T extends object>(methods: readonly (keyof T & string)[], error: string) =>
  z.custom<T>(value => isObject(value) && methods.every(name => typeof (value as T)[name] === 'function'), { error });

const isObject = (value: unknown): value is object => Object(value) === value;

/** A switch. */
export const flag = z.boolean({ error: 'must be true or false' });

/** A text. */
export const text = z.string({ error: 'must be a string' });

/** One of a few texts. */
export const oneOf = <const V extends readonly [string, ...string[]]>(texts: V) =>
  z.enum(texts, { error: `must be ${texts.map(text => `'${text}'`).join(' or ')}` });

/** A text that must be there. Messages never show it. */
export const requiredText = (variable: string, expected = 'a string') => {
  const advice = `pass it, or set ${variable}`;
  return z
    .string({ error: ({ input }) => (input === undefined ? `is missing: ${advice}` : `must be ${expected}`) })
    .min(1, { error: `is empty: ${advice}`, abort: true });
};

/** Takes the value from the environment where it is not passed. */
export const fromEnvironment = <S extends z.ZodType<unknown, string>>(variable: string, schema: S) =>
  // Typed without undefined, as prefault demands: the schema refuses a variable that is not set.
  z.prefault(schema, (() => process.env[variable] as string) as never);

/** By shape: a test runner's realm may have an AbortSignal of its own. */
const isSignal = (value: unknown): value is AbortSignal =>
  typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value;

/** One for each, so that a signal that outlives its calls, as that of a shutdown, has one listener and not one of each. */
const followers = new WeakMap<AbortSignal, AbortSignal>();

/** Only a signal of this realm works everywhere: another one is followed. */
function nativeSignal(signal: AbortSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const other: AbortSignal = signal;
  const known = followers.get(other);
  if (known) return known;
  const controller = new AbortController();
  const follow = () => controller.abort(other.reason);
  if (other.aborted) follow();
  else other.addEventListener('abort', follow);
  followers.set(other, controller.signal);
  return controller.signal;
}

/** The options that every call has. */
export const callFields = {
  signal: z
    .custom<AbortSignal>(isSignal, { error: "must be an AbortSignal, such as a controller's `signal`" })
    .transform(nativeSignal)
    .optional(),
  timeout: milliseconds.optional(),
};

const isObjectOfFields = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every(field => typeof field !== 'function');

/** Fields of a body that the SDK does not know. */
export const extraField = z
  .custom<object>(isObjectOfFields, { error: 'must be an object of fields that can be written as JSON' })
  .optional();
