// Derives the options of a command from the fields of a route, or from the options of the sandbox.
import { InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import { check } from '../control/define.ts';

/** Fields with a different name or form on the command line. */
const WRITTEN: Readonly<Record<string, [flags: string, about: string]>> = {
  paymentId: ['--id <id>', "the payment's id"],
  paymentStatus: ['--status <state>', "the payment's state"],
  isAnswered: ['--answered', 'the callback of its state was answered with 2xx'],
  body: ['--body <file>', 'file that replaces its body; - for standard input'],
};

/** Makes an option that checks its value by the schema, and passes it on as written. */
export function optionOf(name: string, schema: z.ZodType) {
  const field = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const kebab = name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
  const isFlag = field.type === 'boolean' || field.enum?.join() === 'true,false';
  const value = isFlag ? '' : ` <${field.title ?? kebab.replace(/.*-/, '')}>`;
  const [flags, about] = WRITTEN[name] ?? [`--${kebab}${value}`, phrase(field.description ?? '')];
  const preset = isFlag ? '' : String(field.default ?? '');
  const option = new Option(flags, preset ? `${about} (default: ${preset})` : about);
  if (isFlag) return option;
  if (field.enum) option.choices(field.enum.map(String));
  return option.argParser(written => {
    const value = given(written, field);
    const { success, error } = check(schema, value);
    if (success) return value;
    throw new InvalidArgumentError(`It ${error.issues[0]?.message}.`);
  });
}

function given(written: string, { type, enum: values }: z.core.JSONSchema.BaseSchema) {
  if (type === 'array') return written.split(',').map(one => one.trim());
  if (values) return values.find(value => String(value).toLowerCase() === written.toLowerCase()) ?? written;
  return (type === 'integer' || type === 'number') && /\S/.test(written) ? Number(written) : written;
}

/** Formats a sentence in commander's own style. */
export const phrase = (sentence: string) => sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/`|\.$/g, '');
