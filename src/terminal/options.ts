// The options of a command line: what the value of each looks like, and how it is read.
import { nearest } from '../schemas/hints.ts';
import { isHttpUrl } from '../schemas/url.ts';
import { UsageError } from './usage-error.ts';

/** An option that takes a value. */
export interface ValueOption<T> {
  /** What stands for it in the help. */
  value: string;
  /** Those there are, for the completion. */
  values?: readonly string[];
  isRepeated?: true;
  /** @throws {UsageError} with a message that begins after the name of the option */
  read(written: string): T;
}

interface Flag {
  short?: string;
}

export type Option = ValueOption<unknown> | Flag;

/** By their names. */
export type Options = Readonly<Record<string, Option>>;

type ValueOf<O> = O extends { isRepeated: true; read(written: string): infer T }
  ? T[]
  : O extends { read(written: string): infer T }
    ? T
    : boolean;

/** What was given, read. */
export type ValuesOf<O extends Options> = { [Name in keyof O]?: ValueOf<O[Name]> };

export const isValueOption = (option: Option): option is ValueOption<unknown> => 'read' in option;

/** @throws {UsageError} naming the option */
export function readValue(name: string, option: ValueOption<unknown>, written: string): unknown {
  try {
    return option.read(written);
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`--${name} ${error.message}`);
    throw error;
  }
}

/** The error of a value that the option does not take. */
export const refuse = (expected: string, written: string): UsageError =>
  new UsageError(`takes ${expected}, and not ${JSON.stringify(written)}.`);

export const flag: Flag = {};

/** What is given is not shown: it may be a key. */
export const text = (value: string): ValueOption<string> => ({
  value,
  read: written => {
    if (written !== '') return written;
    throw new UsageError('must not be empty.');
  },
});

export const oneOf = <const T extends string>(values: readonly T[]): ValueOption<T> => ({
  value: values.length < 3 ? values.join('|') : '<name>',
  values,
  read: written => {
    const found = values.find(known => known === written);
    if (found) return found;
    const near = nearest(written, values);
    const { message } = refuse(values.join(' or '), written);
    throw new UsageError(near ? `${message} Did you mean ${near}?` : message);
  },
});

/** A whole number. */
export const number = (least: number, most = Number.MAX_SAFE_INTEGER, value = '<number>'): ValueOption<number> => ({
  value,
  read: written => {
    const given = Number(written);
    if (/^\d+$/.test(written) && given >= least && given <= most) return given;
    const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`;
    throw refuse(`a number ${range}`, written);
  },
});

export const count = number(1, undefined, '<count>');

export const url: ValueOption<string> = {
  value: '<url>',
  read: written => {
    if (isHttpUrl(written)) return written;
    throw refuse('an http(s) URL', written);
  },
};
