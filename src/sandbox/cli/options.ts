// Derives the options of a command from the fields of its route.
import { Option } from 'commander';
import * as z from 'zod';
import { integer } from '../../terminal/program.ts';
import type { Route } from '../control/define.ts';
import type { Fields } from './remote.ts';
import { httpUrl, moment, time } from './values.ts';

/** A field of a route in JSON Schema. */
interface Field {
  type?: string;
  enum?: string[];
  const?: string;
  minimum?: number;
  maximum?: number;
  description?: string;
}

/** Returns the fields of a route. @param fixed chooses between variants of its body */
export function fieldsOf({ query, body }: Route, fixed: Fields): Record<string, Field> {
  const { properties, oneOf, anyOf } = z.toJSONSchema(query ?? body ?? z.object({}), { unrepresentable: 'any' });
  const variants = (oneOf ?? anyOf ?? [{ properties }]).map(variant => variant.properties as Record<string, Field>);
  const isMeant = (variant: Record<string, Field>) =>
    Object.entries(fixed).every(([name, value]) =>
      [variant[name]?.const, ...(variant[name]?.enum ?? [])].includes(value as string),
    );
  const meant = Object.entries(Object.assign({}, ...variants.filter(isMeant)) as Record<string, Field>);
  return Object.fromEntries(meant.filter(([name]) => !(name in fixed)));
}

/** Fields with a different name or form on the command line. */
const WRITTEN: Readonly<Record<string, { flags: string; about?: string; read?(written: string): unknown }>> = {
  paymentId: { flags: '--id <id>', about: "the payment's id" },
  paymentStatus: { flags: '--status <state>', about: "the payment's state" },
  isAnswered: { flags: '--answered', about: 'the callback of its state was answered with 2xx' },
  ms: { flags: '--ms <time>', about: 'duration, for slow and callback-delay: 500ms, 5s', read: time },
  timeout: { flags: '--timeout <time>', about: 'longest wait, at most 10m (default: 30s)', read: time },
  advance: { flags: '--advance <time>', about: 'move the clock forward: 5m, 1h', read: time },
  at: { flags: '--at <date>', about: 'set the clock: 2026-11-21T09:00:00Z', read: moment },
  to: { flags: '--to <url>', about: "your callback address (default: the sandbox's --forward-to)", read: httpUrl },
  body: { flags: '--body <file>', about: 'file that replaces its body; - for standard input' },
};

export function optionOf(name: string, { type, enum: values, minimum, maximum, description = '' }: Field): Option {
  const { flags, about, read } = WRITTEN[name] ?? {};
  const kebab = name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
  const option = new Option(
    flags ?? `--${kebab}${type === 'boolean' ? '' : ` <${kebab}>`}`,
    about ?? phrase(description),
  );
  if (values && !option.isBoolean()) return option.choices(values);
  const reader = read ?? (type === 'integer' ? integer(minimum ?? 1, maximum) : type === 'number' ? Number : undefined);
  return reader ? option.argParser(reader) : option;
}

/** Formats a sentence in commander's own style. */
export const phrase = (sentence: string): string =>
  sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/`|\.$/g, '');
